import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { openCatalog } from './catalog.ts'
import { defineMetric, defineVerifier } from './define.ts'

vi.setConfig({ testTimeout: 180_000 }) // processes start slowly on a busy machine
const folder = temporaryFolders()
const signal = new AbortController().signal

const builtins = [
  defineVerifier({
    kind: 'exact',
    summary: 'Built in.',
    params: z.strictObject({ n: z.int().default(1) }),
    verify: () => 1,
  }),
  defineMetric({
    kind: 'pass@{k}',
    summary: 'Built in.',
    params: z.strictObject({ k: z.int() }),
    minSamples: ({ k }) => k,
    compute: () => 1,
  }),
]

function project(files: Record<string, string>): string {
  const dir = folder()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
  return dir
}

const plugin = (definer: string, kind: string, body: string) => `
import { ${definer}, z } from 'evsys/plugin'
export default ${definer}({ kind: '${kind}', summary: 'Mine.', params: z.strictObject({ key: z.string() }), ${body} })
`
const verifier = (kind: string) => plugin('defineVerifier', kind, 'verify: () => 1')

describe('the catalog of built-ins', () => {
  it('describes them and checks their params here (KER-14)', async () => {
    await using catalog = await openCatalog({ builtins, signal })
    expect(catalog.kinds('verifier')).toEqual(['exact'])
    expect(catalog.cards().map(({ kind, origin }) => `${kind} ${origin}`)).toEqual([
      'pass@{k} built-in',
      'exact built-in',
    ])
    expect(catalog.card('metric', 'pass@3')?.kind).toBe('pass@{k}')
    expect(catalog.card('metric', 'pass@0')).toBeUndefined()
    expect(catalog.require('verifier', 'exact').hash).toMatch(/^[0-9a-f]{64}$/)
    expect(
      await catalog.check([
        { type: 'verifier', kind: 'exact', params: { n: 'x' } },
        { type: 'metric', kind: 'pass@3' },
        { type: 'verifier', kind: 'exatc' },
      ]),
    ).toEqual([
      { ok: false, issues: [{ path: ['n'], code: 'invalid', message: 'expected a whole number, got "x"' }] },
      { ok: true, value: { k: 3 }, minSamples: 3 },
      {
        ok: false,
        issues: [{ path: [], code: 'invalid', message: 'no verifier is called "exatc"', known: ['exact'] }],
      },
    ])
    expect(catalog).toMatchObject({ notices: [], problems: [] })
  })

  it('knows what was probably meant (KER-2)', async () => {
    await using catalog = await openCatalog({ builtins, signal })
    const where = { file: 'a.yaml', line: 1, col: 2 }
    expect(() => catalog.require('verifier', 'exat', where)).toThrow(
      expect.objectContaining({
        code: 'PLUGIN_UNKNOWN',
        where,
        fix: 'did you mean "exact"? Known: exact. `evsys list verifiers` describes them.',
      }),
    )
  })
})

describe('the catalog of a project', () => {
  it('unites built-ins, packages and the project, with notices of what is shadowed (KER-1, KER-3)', async () => {
    const dir = project({
      'src/plugins/exact.ts': verifier('exact'),
      'src/plugins/fuzzy.ts': verifier('fuzzy'),
      'lib/named.ts': plugin('defineMetric', 'top@{n}', 'compute: () => 1'),
      'node_modules/acme/package.json': '{"name":"acme","version":"1.0.0","main":"index.mjs"}',
      'node_modules/acme/index.mjs': verifier('acme/exact'),
    })
    await using catalog = await openCatalog({
      builtins,
      projectDir: dir,
      plugins: [
        { spec: '../lib/named.ts', from: join(dir, 'experiments') },
        { spec: 'acme', from: join(dir, 'experiments') },
      ],
      signal,
    })
    expect(catalog.problems).toEqual([])
    expect(catalog.kinds('verifier')).toEqual(['acme/exact', 'exact', 'fuzzy'])
    expect(catalog.require('verifier', 'exact')).toMatchObject({ summary: 'Mine.', origin: 'src/plugins/exact.ts' })
    expect(catalog.require('verifier', 'acme/exact').origin).toBe('acme')
    expect(catalog.card('metric', 'top@7')?.origin).toBe('lib/named.ts')
    expect(catalog.notices).toEqual([
      {
        text: 'verifier "exact" of src/plugins/exact.ts shadows the built-in',
        where: { file: join(dir, 'src/plugins/exact.ts'), line: 3, col: 33 },
      },
    ])
    const checked = await catalog.check([
      { type: 'verifier', kind: 'exact', params: { key: 1 } },
      { type: 'metric', kind: 'pass@2' },
      { type: 'verifier', kind: 'fuzzy', params: { key: 'a' } },
      { type: 'verifier', kind: 'none' },
      { type: 'verifier', kind: 'acme/exact', params: {} },
      { type: 'metric', kind: 'top@7', params: { key: 'a' } },
    ])
    expect(checked.map(({ ok }) => ok)).toEqual([false, true, true, false, false, false])
    expect(checked[0]).toMatchObject({ issues: [{ path: ['key'], message: 'expected text, got 1' }] })
    expect(checked[5]).toMatchObject({ issues: [{ keys: ['n'] }] })
  })

  it('reports all problems at once and still works (KER-1, KER-5)', async () => {
    const dir = project({
      'src/plugins/a.ts': verifier('same'),
      'src/plugins/b.ts': verifier('same'),
      'src/plugins/c.ts': 'const',
      'src/plugins/d.ts': verifier('fine'),
      'node_modules/acme/package.json': '{"name":"acme","version":"1.0.0","main":"index.mjs"}',
      'node_modules/acme/index.mjs': verifier('unprefixed'),
    })
    const where = { file: 'x.yaml', line: 3, col: 4 }
    await using catalog = await openCatalog({
      builtins,
      projectDir: dir,
      plugins: [
        { spec: 'acme', from: dir },
        { spec: 'gone', from: dir, where },
      ],
      signal,
    })
    expect(catalog.problems.map(({ code, message }) => `${code} ${message}`).sort()).toEqual([
      'PLUGIN_CONFLICT verifier "same" is defined by src/plugins/a.ts and by src/plugins/b.ts',
      'PLUGIN_INVALID verifier "unprefixed" of the package acme has no prefix',
      'PLUGIN_LOAD syntax error: unexpected token',
      'PLUGIN_LOAD the package "gone" is not installed',
    ])
    expect(catalog.problems.find(({ code }) => code === 'PLUGIN_CONFLICT')?.where).toMatchObject({
      file: join(dir, 'src/plugins/b.ts'),
      line: 3,
    })
    expect(catalog.problems).toContainEqual(expect.objectContaining({ where }))
    expect(catalog.kinds('verifier')).toEqual(['exact', 'fine', 'same'])
    expect(await catalog.check([{ type: 'verifier', kind: 'same', params: { key: 'a' } }])).toMatchObject([
      { ok: true },
    ])
  })
})
