import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { faultsPage, pluginPages, referencePages } from '../scripts/generate-reference.ts'
import { renderReferencePage } from '../scripts/reference-page.ts'
import { allBuiltins } from '../src/research/index.ts'

describe('docs/reference', () => {
  it.each(Object.entries(referencePages()))('%s is what `npm run docs` writes (CON-1)', (name, text) => {
    expect(readFileSync(new URL(`../docs/reference/${name}`, import.meta.url), 'utf8')).toBe(text)
  })

  it.each(Object.entries(referencePages()))('%s links to headings that it has (CON-1)', (_name, text) => {
    const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading = '']) =>
      heading.toLowerCase().replace(/[^\w-]/g, ''),
    )
    const links = [...text.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor)
    expect(links.length).toBeGreaterThan(0)
    expect(links.filter((anchor) => anchor === undefined || !headings.includes(anchor))).toEqual([])
  })
})

describe('docs/reference/faults.md', () => {
  it('is what `npm run docs` writes (USE-170)', () => {
    expect(readFileSync(new URL('../docs/reference/faults.md', import.meta.url), 'utf8')).toBe(faultsPage())
  })
})

describe('docs/reference/plugins', async () => {
  const pages = await pluginPages()

  it.each(Object.entries(pages))('%s is what `npm run docs` writes (CON-1)', (name, text) => {
    expect(readFileSync(new URL(`../docs/reference/${name}`, import.meta.url), 'utf8')).toBe(text)
  })

  it('has every built-in with its params, and no other page (CON-1)', async () => {
    for (const { type, kind } of await allBuiltins()) {
      expect(pages[`plugins/${type.replaceAll('_', '-')}.md`]).toContain(`\n## ${kind}\n`)
    }
    const folder = new URL('../docs/reference/plugins', import.meta.url)
    expect(readdirSync(folder).map((file) => `plugins/${file}`)).toEqual(Object.keys(pages).sort())
  })
})

describe('renderReferencePage', () => {
  const page = renderReferencePage(
    {
      type: 'object',
      required: ['name', 'box'],
      properties: {
        name: { type: 'string', description: 'With a | bar.' },
        count: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 1 },
        mode: { enum: ['a', 'b'] },
        box: { type: 'object', description: 'A box.', properties: { size: { type: 'number', exclusiveMinimum: 0 } } },
        boxes: {
          type: 'array',
          items: { type: 'object', properties: { size: { type: 'number', exclusiveMinimum: 0 } } },
        },
        free: { type: 'object', additionalProperties: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
      },
    },
    { title: 'Thing', intro: 'What a thing is.' },
  )

  it('writes one table for each mapping and links equal mappings to the first (CON-1)', () => {
    expect(page).toBe(`# Thing

What a thing is.

| field | type | default | meaning |
| --- | --- | --- | --- |
| \`name\` | string | required | With a \\| bar. |
| \`count\` | integer >= 1 | \`1\` |  |
| \`mode\` | \`"a"\`, \`"b"\` |  |  |
| \`box\` | [box](#box) | required | A box. |
| \`boxes\` | list of [box](#box) |  |  |
| \`free\` | mapping to string or null |  |  |

## box

A box.

| field | type | default | meaning |
| --- | --- | --- | --- |
| \`size\` | number > 0 |  |  |
`)
  })
})
