import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { citedIds } from './citations.ts'
import { requirements } from './requirements.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

function readTests(): { file: string; text: string }[] {
  return ['src', 'tests', 'models/recipe']
    .flatMap((folder) =>
      readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
    )
    .filter((file) => /\.(test|test-d|contract)\.ts$/.test(file))
    .map((file) => ({ file, text: readFileSync(`${root}${file}`, 'utf8') }))
}

describe('the list of promises', () => {
  const cited = readTests().flatMap(({ file, text }) => citedIds(file, text).map((id) => ({ id, file })))

  it('is cited in full (REPO-7)', () => {
    const proven = new Set(cited.map(({ id }) => id))
    const unproven = Object.entries(requirements).filter(([id]) => !proven.has(id))
    expect(unproven.map(([id, promise]) => `${id}  ${promise}`)).toEqual([])
  })

  it('holds every id that a test cites (REPO-7)', () => {
    const unknown = cited.filter(({ id }) => !(id in requirements))
    expect([...new Set(unknown.map(({ id, file }) => `${file}  ${id}`))]).toEqual([])
  })
})

describe('citedIds', () => {
  it.each([
    ['a title', `it('keeps order (KER-9)', () => {})`, ['KER-9']],
    ['several ids', `test('both (KER-9, CFG-1)', () => {})`, ['KER-9', 'CFG-1']],
    ['a group', `describe('blobs (KER-12)', () => {})`, ['KER-12']],
    ['a table', `it.each([[1]])('case %s (CFG-2)', () => {})`, ['CFG-2']],
    ['a tagged table', 'it.each`a`("case (CFG-2)", () => {})', ['CFG-2']],
    ['a conditional test', `it.skipIf(!zsh)('completes (CLI-7)', () => {})`, ['CLI-7']],
    ['a test with a named need', `itNeeds('zsh', 'completes (CLI-7)', () => {})`, ['CLI-7']],
    ['a template', 'it(`loads $' + '{file} (CFG-15)`, () => {})', ['CFG-15']],
    ['nested tests', `describe('a', () => { it('b (ERR-1)', () => {}) })`, ['ERR-1']],
    ['an id that nobody promised', `it('x (FOO-1)', () => {})`, ['FOO-1']],
  ])('reads %s (REPO-7)', (_name, text, ids) => {
    expect(citedIds('a.test.ts', text)).toEqual(ids)
  })

  it.each([
    ['comments', `// KER-9\nit('keeps order', () => {})`],
    ['data', `const id = 'x (KER-9)'; f('x (KER-9)')`],
    ['a skipped test', `it.skip('keeps order (KER-9)', () => {})`],
    ['a skipped group', `describe.skip('g', () => { it('keeps order (KER-9)', () => {}) })`],
    ['a test not written', `it.todo('keeps order (KER-9)')`],
    ['words that look like ids', `it('hashes with SHA-256 and UTF-8', () => {})`],
  ])('counts nothing in %s (REPO-7)', (_name, text) => {
    expect(citedIds('a.test.ts', text)).toEqual([])
  })
})
