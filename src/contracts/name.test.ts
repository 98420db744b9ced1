import { posix, win32 } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { Name } from './name.ts'

const accepts = (name: string): boolean => Name.safeParse(name).success

describe('Name', () => {
  it.each([
    'a',
    'router-lr',
    'sft__lr0p0001',
    'Größe 7 (neu)',
    '実験',
    'v1.2',
    'a..b',
    '😀',
    'console',
    'com10',
    'nul-1',
  ])('takes %j (CON-1)', (name) => {
    expect(Name.parse(name)).toBe(name)
  })

  it.each([
    '',
    '.',
    '..',
    '../up',
    '..\\up',
    '/etc/passwd',
    'a/b',
    'a\\b',
    'C:\\x',
    'C:',
    'a:stream',
    '.hidden',
    ' a',
    'a ',
    'a.',
    'a\u0000b',
    'a\nb',
    'a\u001b[31m',
    'a\u007f',
    'a\u0085',
    'a\u2028b',
    '\ud800',
    'a\udfff',
    'abc\u202etxt',
    'a*',
    'a?',
    'a"b',
    'a|b',
    '<a>',
  ])('refuses %j, which is no folder name everywhere (CON-1)', (name) => {
    expect(accepts(name)).toBe(false)
  })

  it.each([
    'CON',
    'con',
    'Prn',
    'AUX',
    'nul',
    'NUL.txt',
    'con.tar.gz',
    'nul .x',
    'COM1',
    'lpt9',
    'LPT¹',
    'CONIN$',
    'conout$',
  ])('refuses %j, which Windows keeps for a device (CON-1)', (name) => {
    expect(Name.safeParse(name).error?.issues[0]?.message).toMatch('device')
  })

  it('is at most 200 bytes long, so that a stamp and a seed fit into a folder name (CON-1)', () => {
    expect(accepts('x'.repeat(200))).toBe(true)
    expect(accepts('x'.repeat(201))).toBe(false)
    expect(accepts('é'.repeat(100))).toBe(true)
    expect(accepts('é'.repeat(101))).toBe(false)
    expect(accepts('😀'.repeat(51))).toBe(false)
  })

  it('never leaves the folder it is put into (CON-1)', () => {
    const hostile = fc.string({
      unit: fc.oneof(
        fc.constantFrom('.', '/', '\\', ':', ' ', '\u0000', '~', 'a', 'C'),
        fc.string({ unit: 'binary', maxLength: 1 }),
      ),
      maxLength: 8,
    })
    fc.assert(
      fc.property(hostile.filter(accepts), (name) => {
        expect(posix.dirname(posix.resolve('/base', name))).toBe('/base')
        expect(win32.dirname(win32.resolve('C:\\base', name))).toBe('C:\\base')
        expect(Buffer.from(name, 'utf8').toString('utf8')).toBe(name)
      }),
    )
  })

  it('refuses in editors, by JSON Schema, the patterns that it refuses itself (CFG-13)', () => {
    const { allOf = [], pattern } = z.toJSONSchema(Name)
    const patterns = [pattern, ...allOf.map((each) => each.pattern)].filter((each) => each !== undefined)
    const editorAccepts = (name: string) => patterns.every((each) => new RegExp(each, 'u').test(name))
    for (const name of ['../up', 'CON', 'aUx.x', 'a\nb']) expect(editorAccepts(name)).toBe(false)
    for (const name of ['a', 'Größe 7', 'console']) expect(editorAccepts(name)).toBe(true)
  })
})
