import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withPlace } from '../rows/raw-row.ts'
import { compileTemplate, parseTemplate, TemplateText } from './template.ts'

const fill = (text: string, row: Record<string, unknown>) => compileTemplate(text, 'a: t').text(row)

describe('templates', () => {
  it.each([
    ['Query: {query}', 'Query: hi'],
    ['{query}{n}', 'hi3'],
    ['{ query }', 'hi'],
    ['{{query}}', '{query}'],
    ['{{{query}}}', '{hi}'],
    ['{"a": {n}}'.replace('{"', '{{"').replace('}}', '}}}'), '{"a": 3}'],
    ['{nested.list.1}', 'b'],
    ['{a.b}', 'dotted key'],
    ['{list}', '["x"]'],
    ['{flag}', 'true'],
    ['', ''],
  ])('fills %j (PLG-2)', (template, text) => {
    const row = {
      query: 'hi',
      n: 3,
      nested: { list: ['a', 'b'] },
      'a.b': 'dotted key',
      a: { b: 1 },
      list: ['x'],
      flag: true,
    }
    expect(fill(template, row)).toBe(text)
  })

  it('leaves any text without braces alone, and any text whose braces are doubled (PLG-2)', () => {
    fc.assert(fc.property(fc.string(), (text) => fill(text.replace(/[{}]/g, '$&$&'), {}) === text))
  })

  it('never throws on any text; what is wrong is said (PLG-2)', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('{', '}', 'a', ' ', '.') }), (text) => {
        const parsed = parseTemplate(text)
        expect('parts' in parsed || parsed.problem.length > 0).toBe(true)
      }),
    )
  })

  it.each([
    ['a } b', /closes nothing, at character 3/],
    ['a { b', /not closed, at character 3/],
    ['{a{b}', /not closed, at character 1/],
    ['{}', /names no field/],
    ['{  }', /names no field/],
  ])('refuses %j when params are checked (PLG-2)', (text, message) => {
    expect(TemplateText.safeParse(text).error?.issues[0]?.message).toMatch(message)
  })

  it('names place, field and nearest key of a row that lacks a field (PLG-2)', () => {
    const row = withPlace({ query: 'hi', tool: 'x' }, 'data/train.jsonl:812')
    const error = catching(() => fill('{qury}', row))
    expect(error).toMatchObject({
      code: 'DATA_INVALID',
      message: 'data/train.jsonl:812: a: t names the field "qury", which the row does not have (it has query, tool)',
      where: { file: 'data/train.jsonl', line: 812, col: 1 },
      fix: 'did you mean "query"? Known: query, tool.',
    })
  })

  it('does not take inherited names for fields (PLG-2)', () => {
    for (const name of ['constructor', '__proto__', 'toString', 'query.length']) {
      expect(catching(() => fill(`{${name}}`, { query: 'hi' }))).toMatchObject({ code: 'DATA_INVALID' })
    }
  })

  it('refuses null instead of writing it out (PLG-2)', () => {
    expect(catching(() => fill('{a}', { a: null }))).toMatchObject({
      message: 'a: t names the field "a", which is null in this row',
    })
  })

  it('keeps the type of a field that stands alone (PLG-2)', () => {
    const value = (text: string) => compileTemplate(text, 't').value({ n: 3, list: [1] })
    expect(value('{n}')).toBe(3)
    expect(value('{list}')).toEqual([1])
    expect(value('{n} ')).toBe('3 ')
  })
})

function catching(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}
