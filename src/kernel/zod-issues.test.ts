import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { Duration } from '../contracts/index.ts'
import { checkValue, formatZodIssue } from './zod-issues.ts'

function messages(schema: z.ZodType, value: unknown): string[] {
  const result = checkValue(schema, value)
  return result.ok ? [] : result.issues.map(({ path, message }) => [...path, message].join(': '))
}

describe('checkValue', () => {
  it('returns the parsed value with defaults', () => {
    const schema = z.strictObject({ steps: z.int().default(5) })
    expect(checkValue(schema, {})).toEqual({ ok: true, value: { steps: 5 } })
  })

  it.each<[string, z.ZodType, unknown, string[]]>([
    ['a wrong type', z.int(), 'abc', ['expected a whole number, got "abc"']],
    ['a fraction', z.int(), 1.5, ['expected a whole number, got 1.5']],
    ['a list for text', z.string(), [], ['expected text, got an empty list']],
    ['a mapping for a switch', z.boolean(), { a: 1 }, ['expected true or false, got a mapping']],
    ['null', z.string(), null, ['expected text, got null']],
    ['NaN', z.number(), Number.NaN, ['expected a number, got NaN']],
    ['a missing key', z.object({ path: z.string() }), {}, ['path: is missing: expected text']],
    ['another constant', z.literal(1), 2, ['expected 1, got 2']],
    ['another option', z.enum(['max', 'min']), 'mx', ['expected one of "max", "min", got "mx"']],
    ['a small number', z.number().min(1), 0, ['must be at least 1, got 0']],
    ['a number on the bound', z.number().positive(), 0, ['must be greater than 0, got 0']],
    ['a large number', z.number().max(1), 2, ['must be at most 1, got 2']],
    ['a number on the upper bound', z.number().lt(1), 1, ['must be less than 1, got 1']],
    ['empty text', z.string().min(1), '', ['must not be empty']],
    ['an empty list', z.array(z.string()).min(1), [], ['must not be empty']],
    ['long text', z.string().max(3), 'abcd', ['must have at most 3 characters, got 4']],
    ['a list of the wrong length', z.array(z.int()).length(2), [1], ['must have exactly 2 items, got 1']],
    ['a pattern', z.string().regex(/^a+$/), 'b', ['must match /^a+$/, got "b"']],
    ['a format', z.url(), 'nowhere', ['expected a URL, got "nowhere"']],
    ['a prefix', z.string().startsWith('evk_'), 'x', ['must start with "evk_", got "x"']],
    ['a step', z.number().multipleOf(5), 7, ['must be a multiple of 5, got 7']],
    ['a check without words', z.string().refine(() => false), 'x', ['is not valid']],
    [
      'a key',
      z.record(z.string().max(1), z.int()),
      { ab: 1 },
      ['ab: a key is not valid: must have at most 1 character, got 2'],
    ],
  ])('says what is wrong with %s', (_name, schema, value, expected) => {
    expect(messages(schema, value)).toEqual(expected)
  })

  it('keeps the words of the schema', () => {
    expect(messages(z.string().regex(/^a$/, 'write an a'), 'b')).toEqual(['write an a'])
    expect(
      messages(
        z.string().refine(() => false, 'no such thing'),
        'b',
      ),
    ).toEqual(['no such thing'])
    expect(messages(z.string('a name, please'), 1)).toEqual(['a name, please'])
  })

  it('reports everything at once, with paths', () => {
    const schema = z.strictObject({ a: z.int(), list: z.array(z.strictObject({ b: z.string() })) })
    expect(messages(schema, { a: 'x', list: [{ b: 'y' }, { b: 1 }] })).toEqual([
      'a: expected a whole number, got "x"',
      'list: 1: b: expected text, got 1',
    ])
  })

  it('names unknown keys and the known ones', () => {
    const schema = z.strictObject({ run: z.strictObject({ lr: z.number().optional(), steps: z.int().optional() }) })
    expect(checkValue(schema, { run: { learning_rate: 1, step: 2 } })).toEqual({
      ok: false,
      issues: [
        {
          path: ['run'],
          code: 'unknown_key',
          message: 'unknown keys "learning_rate", "step"',
          keys: ['learning_rate', 'step'],
          known: ['lr', 'steps'],
        },
      ],
    })
  })

  it('lists the allowed values', () => {
    expect(checkValue(z.enum(['a', 'b']), 'c')).toMatchObject({ issues: [{ known: ['a', 'b'] }] })
  })

  it('cuts what it shows', () => {
    expect(messages(z.int(), 'x'.repeat(500))).toEqual([`expected a whole number, got "${'x'.repeat(60)}…"`])
  })
})

describe('a union that nothing fits', () => {
  it('lists what was expected when the value has none of the shapes', () => {
    expect(messages(z.union([z.string(), z.array(z.string())]), 3)).toEqual(['expected text or a list, got 3'])
    expect(messages(z.union([z.union([z.string(), z.null()]), z.int()]), true)).toEqual([
      'expected text or null or a whole number, got true',
    ])
    expect(messages(z.object({ a: z.union([z.string(), z.int()]) }), {})).toEqual([
      'a: is missing: expected text or a whole number',
    ])
  })

  it('tells what is wrong inside the member that was meant', () => {
    const schema = z.union([z.string(), z.strictObject({ kind: z.string(), params: z.record(z.string(), z.int()) })])
    expect(messages(schema, { kind: 'a', params: { n: 'x' } })).toEqual(['params: n: expected a whole number, got "x"'])
    expect(messages(z.union([schema, z.int()]), { kind: 1, params: {} })).toEqual(['kind: expected text, got 1'])
  })

  it('prefers the member with fewer complaints, and tells members apart by their tag', () => {
    const schema = z.union([
      z.strictObject({ a: z.int(), b: z.int(), c: z.int() }),
      z.strictObject({ a: z.int(), d: z.int() }),
    ])
    expect(messages(schema, { a: 1, d: 'x' })).toEqual(['d: expected a whole number, got "x"'])
    const tagged = z.union([
      z.object({ kind: z.literal('a'), n: z.int() }),
      z.object({ kind: z.literal('b'), n: z.int(), m: z.int() }),
    ])
    expect(messages(tagged, { kind: 'b' })).toEqual([
      'n: is missing: expected a whole number',
      'm: is missing: expected a whole number',
    ])
  })

  it('names the tags of a discriminated union', () => {
    const schema = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a') }),
      z.object({ kind: z.literal('b') }),
    ])
    expect(checkValue(z.object({ v: schema }), { v: { kind: 'c' } })).toMatchObject({
      issues: [{ path: ['v', 'kind'], message: 'expected one of "a", "b", got "c"', known: ['a', 'b'] }],
    })
    expect(messages(schema, {})).toEqual(['kind: is missing: expected one of "a", "b"'])
  })

  it('keeps the words of a member whose type fitted', () => {
    expect(messages(Duration, 'abc')).toEqual(['a duration is seconds, or text such as 90s, 30m, 1h30m, 2d'])
    expect(messages(Duration, -1)).toEqual(['must be greater than 0, got -1'])
    expect(messages(Duration, [])).toEqual(['expected a number or text, got an empty list'])
  })
})

describe('formatZodIssue', () => {
  it('takes issues of any parse', () => {
    const error = z.strictObject({ a: z.int() }).safeParse({ a: 1, b: 2 }).error
    expect(error?.issues.flatMap(formatZodIssue)).toMatchObject([{ path: [], code: 'unknown_key', keys: ['b'] }])
  })
})

describe('any value', () => {
  const Json = z.strictObject({
    a: z.union([z.string(), z.int().positive(), z.array(z.strictObject({ x: z.boolean() }))]),
    b: z.discriminatedUnion('kind', [z.strictObject({ kind: z.literal('k'), n: z.int() })]).optional(),
  })

  it('gets at least one issue with words, or fits', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.record({ a: fc.anything(), b: fc.anything() })), (value) => {
        const result = checkValue(Json, value)
        if (result.ok) return
        expect(result.issues.length).toBeGreaterThan(0)
        for (const issue of result.issues) {
          expect(issue.message).not.toBe('')
          expect(issue.message).not.toMatch(/Invalid|undefined|\[object/)
        }
      }),
    )
  })
})
