import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ErrorCode } from '../src/contracts/index.ts'

interface Entry {
  code: string
  body: string
}

/** Entries of the error reference: one `## CODE` heading each. */
function readEntries(markdown: string): Entry[] {
  return markdown
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      code: section.split('\n', 1)[0]?.trim() ?? '',
      body: section.slice(section.indexOf('\n') + 1),
    }))
}

/** What is wrong with a reference, given the codes that exist. */
function findGaps(markdown: string, codes: readonly string[]): string[] {
  const entries = readEntries(markdown)
  const names = entries.map(({ code }) => code)
  return [
    ...codes.filter((code) => !names.includes(code)).map((code) => `${code} has no entry`),
    ...names.filter((name) => !codes.includes(name)).map((name) => `"${name}" is no error code`),
    ...names.filter((name, i) => names.indexOf(name) !== i).map((name) => `${name} has two entries`),
    ...entries.filter(({ body }) => !/^\*\*Cause:\*\* \S/m.test(body)).map(({ code }) => `${code} has no cause`),
    ...entries.filter(({ body }) => !/^\*\*Fix:\*\* \S/m.test(body)).map(({ code }) => `${code} has no fix`),
  ]
}

describe('docs/reference/errors.md', () => {
  it('explains every error code, with cause and fix, and no other (REPO-8)', () => {
    const markdown = readFileSync(new URL('../docs/reference/errors.md', import.meta.url), 'utf8')
    expect(findGaps(markdown, ErrorCode.options)).toEqual([])
  })

  it('keeps the order in which the codes are declared (REPO-8)', () => {
    const markdown = readFileSync(new URL('../docs/reference/errors.md', import.meta.url), 'utf8')
    expect(readEntries(markdown).map(({ code }) => code)).toEqual(ErrorCode.options)
  })
})

describe('findGaps', () => {
  const entry = (code: string) => `## ${code}\n\n**Cause:** it broke.\n\n**Fix:** mend it.\n\n`

  it.each([
    ['nothing in a full reference', entry('A_B') + entry('C_D'), []],
    ['a code without entry', entry('A_B'), ['C_D has no entry']],
    ['an entry without code', entry('A_B') + entry('C_D') + entry('E_F'), ['"E_F" is no error code']],
    ['an entry given twice', entry('A_B') + entry('C_D') + entry('C_D'), ['C_D has two entries']],
    ['an entry without cause', `${entry('A_B')}## C_D\n\n**Fix:** mend it.\n`, ['C_D has no cause']],
    ['an entry without fix', `${entry('A_B')}## C_D\n\n**Cause:** it broke.\n\n**Fix:**\n`, ['C_D has no fix']],
  ])('finds %s (REPO-8)', (_name, markdown, gaps) => {
    expect(findGaps(markdown, ['A_B', 'C_D'])).toEqual(gaps)
  })
})
