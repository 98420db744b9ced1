import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { faultLine } from '../../tests/load-text.ts'
import { formatProblems } from '../kernel/index.ts'
import { type LocatedNode, toJs } from './located.ts'
import { maxDepth, maxExpanded, maxLength, parseYaml } from './parse-yaml.ts'
import { Report } from './report.ts'

function parse(text: string): { node: LocatedNode | undefined; faults: string[]; report: Report } {
  const report = new Report()
  const node = parseYaml({ name: 'e.yaml', text, dir: '/', rank: 0 }, report)
  return { node, faults: report.problems.map(faultLine), report }
}

const valueIn = (text: string): unknown => {
  const { node, faults } = parse(text)
  if (node === undefined) throw new Error(faults.join('\n'))
  return toJs(node)
}

describe('YAML values', () => {
  it.each([
    ['numbers of YAML 1.2', 'a: 1e-5\nb: 0x1F\nc: 012\nd: +3', { a: 1e-5, b: 31, c: 12, d: 3 }],
    ['words that YAML 1.1 took for booleans', 'a: yes\nb: no\nc: on\nd: true', { a: 'yes', b: 'no', c: 'on', d: true }],
    ['nulls', 'a:\nb: ~\nc: null\nd: {e}', { a: null, b: null, c: null, d: { e: null } }],
    [
      'dates, times and versions as text',
      'a: 2026-01-31\nb: 12:30:00\nc: 1.2.3',
      { a: '2026-01-31', b: '12:30:00', c: '1.2.3' },
    ],
    ['keys as they are written', '1: a\ntrue: b\n0x10: c\n"d": e', { '1': 'a', true: 'b', '0x10': 'c', d: 'e' }],
    [
      'keys that objects have of themselves',
      'constructor: 1\ntoString: 2\nhasOwnProperty: 3',
      { constructor: 1, toString: 2, hasOwnProperty: 3 },
    ],
    ['anchors and aliases', 'a: &x [1]\nb: *x\nc: &x 2\nd: *x', { a: [1], b: [1], c: 2, d: 2 }],
    [
      'merge keys',
      'x: &x { a: 1, b: 1 }\ny: &y { b: 2, c: 2 }\nz: { <<: [*x, *y], a: 0 }',
      { x: { a: 1, b: 1 }, y: { b: 2, c: 2 }, z: { a: 0, b: 1, c: 2 } },
    ],
    ['a quoted merge key as a key', '"<<": 1', { '<<': 1 }],
    ['standard tags', 'a: !!str 5\nb: !!int "6"\nc: !!map {}\nd: ! 7', { a: '5', b: 6, c: {}, d: '7' }],
    ['CRLF line ends', 'a: 1\r\nb:\r\n  - x\r\n', { a: 1, b: ['x'] }],
    ['block text', 'a: |\n  x\n   y\nb: >-\n  x\n  y\n', { a: 'x\n y\n', b: 'x y' }],
    ['a document mark and the directive of YAML 1.2', '%YAML 1.2\n---\na: 1\n...\n', { a: 1 }],
    ['brackets over lines, closed at the margin', 'a: {\n  b: 1,\n}\nc: [\n  1,\n]\n', { a: { b: 1 }, c: [1] }],
    ['large numbers that are kept exactly', 'a: 9007199254740992\nb: 1e300', { a: 9007199254740992, b: 1e300 }],
    ['nothing at all', '', null],
    ['comments alone', '# x\n', null],
  ])('are read: %s (ERR-1)', (_what, text, value) => {
    expect(valueIn(text)).toEqual(value)
  })

  it('keep the place in which they were written (ERR-2)', () => {
    const { node } = parse('a:\n  - b: "x"\n    c: { d: 1 }\n')
    const d = node?.type === 'map' ? node.entries.get('a')?.value : undefined
    expect(d?.origin).toMatchObject({ start: 5, isBlock: true, key: { start: 0, end: 1 } })
  })
})

describe('YAML that is refused', () => {
  it.each([
    ['a quote that is never closed', 'a: "x\nb: 1\n', ['1:4 CONFIG_SYNTAX this quote is never closed']],
    [
      'a quote closed on another line',
      'a: "x\nb: "y"\n',
      [expect.stringMatching(/^1:4 CONFIG_SYNTAX this quote is (?:never closed|closed only on another line)/)],
    ],
    ['a bracket that is never closed', 'a: [1, {b: 2}\nc: 3\n', ['1:4 CONFIG_SYNTAX this bracket is never closed']],
    [
      'a bracket of the other kind',
      'a: [1, 2}\n',
      [expect.stringMatching(/^1:4 CONFIG_SYNTAX this bracket is never closed/)],
    ],
    ['a bracket too many', 'a: {b: 1}}\n', ['1:10 CONFIG_SYNTAX "}" was not expected here']],
    ['a line indented too far', 'a: 1\n  b: 2\n', ['2:3 CONFIG_SYNTAX this line is indented too far']],
    [
      'a line indented too little',
      'a:\n  b: 1\n c: 2\n',
      ['3:2 CONFIG_SYNTAX all mapping items must start at the same column'],
    ],
    ['a tab as indentation', 'a:\n\tb: 1\n', ['2:1 CONFIG_SYNTAX a tab stands where spaces must indent']],
    ['a missing colon', 'a: 1\nb 2\nc: 3\n', ['2:1 CONFIG_SYNTAX a colon is missing on this line']],
    ['a missing space after the colon', 'a:1\nb: 2\n', ['1:1 CONFIG_SYNTAX a colon is missing on this line']],
    ['two colons', 'a: b: c\n', ['1:4 CONFIG_SYNTAX a mapping cannot start here']],
    ['a reserved character', 'a: @b\n', ['1:4 CONFIG_SYNTAX plain value cannot start with reserved character @']],
    ['an unknown escape', 'a: "\\q"\n', ['1:5 CONFIG_SYNTAX invalid escape sequence \\q']],
    ['a key given twice', 'a: 1\nb: 2\na: 3\n', ['3:1 CONFIG_SYNTAX a: "a" is given twice; the first is at e.yaml:1']],
    [
      'a key given twice in two spellings',
      '1: a\n"1": b\n',
      ['2:1 CONFIG_SYNTAX "1": "1" is given twice; the first is at e.yaml:1'],
    ],
    ['an unknown alias', 'a: *nope\n', ['1:4 CONFIG_SYNTAX a: no anchor &nope is defined before this alias']],
    ['an alias inside its anchor', 'a: &x [*x]\n', ['1:8 CONFIG_SYNTAX a.0: *x stands inside &x itself']],
    [
      'a merge of something else',
      'a: { <<: 3 }\n',
      ['1:10 CONFIG_SYNTAX a.<<: << takes a mapping or a list of mappings'],
    ],
    ['a tag of its own', 'a: !python/object x\n', ['1:4 CONFIG_SYNTAX the tag "!python/object" is not supported']],
    ['a tag of YAML 1.1', 'a: !!binary aGk=\n', ['1:4 CONFIG_SYNTAX the tag "!!binary" is not supported']],
    ['a list as a key', '? [a]\n: b\n', ['1:3 CONFIG_SYNTAX a key must be text']],
    ['a mapping as a key', '{ {a: 1}: b }\n', ['1:3 CONFIG_SYNTAX a key must be text']],
    ['a missing key', 'a: 1\n: b\n', ['2:1 CONFIG_SYNTAX a key is missing before the colon']],
    [
      '__proto__ as a key',
      'a: { __proto__: { b: 1 } }\n',
      ['1:6 CONFIG_SYNTAX a.__proto__: "__proto__" cannot be a key'],
    ],
    ['YAML 1.1', '%YAML 1.1\n---\na: yes\n', ['1:1 CONFIG_SYNTAX the directive "%YAML 1.1" is not supported']],
    ['a second document', 'a: 1\n---\nb: 2\n', ['2:1 CONFIG_SYNTAX a second document starts here']],
    [
      'a control character',
      'a: 1\nb: \u0007\n',
      ['2:4 CONFIG_SYNTAX the text holds a character that YAML does not allow (U+0007)'],
    ],
    [
      'a lone surrogate',
      'a: \uD800\n',
      ['1:4 CONFIG_SYNTAX the text holds a character that YAML does not allow (U+D800)'],
    ],
    [
      'an escaped lone surrogate',
      'a: "\\ud800"\n',
      ['1:4 CONFIG_INVALID a: the text holds half of a character (a lone surrogate)'],
    ],
    ['infinity', 'a: .inf\n', ['1:4 CONFIG_INVALID a: .inf is not a finite number']],
    ['a number beyond all numbers', 'a: 1e999\n', ['1:4 CONFIG_INVALID a: 1e999 is not a finite number']],
    ['no number', 'a: .nan\n', ['1:4 CONFIG_INVALID a: .nan is not a finite number']],
    [
      'digits that would be lost',
      'a: 12345678901234567891\n',
      ['1:4 CONFIG_INVALID a: 12345678901234567891 is too large to be kept exactly'],
    ],
  ])('%s (ERR-1)', (_what, text, faults) => {
    const result = parse(text)
    expect(result.node).toBeUndefined()
    expect(result.faults).toEqual(faults)
    expect(result.report.problems.every(({ fix }) => fix !== undefined && fix !== '')).toBe(true)
  })

  it('tells several mistakes at once, in order (ERR-1)', () => {
    expect(parse('a: 1\na: 2\nb: *x\nc: .nan\n').faults.map((fault) => fault.split(' ')[0])).toEqual([
      '2:1',
      '3:4',
      '4:4',
    ])
  })

  it('too long (ERR-1)', () => {
    expect(parse(`a: ${'x'.repeat(maxLength)}`).faults).toEqual([
      expect.stringMatching(/^1:1 CONFIG_SYNTAX the text is \d+ characters long/),
    ])
  })

  it.each(['[', '{', '- ', '? ', '{a: ', '- - ? '])('nested without end by %j (ERR-1)', (opening) => {
    const { faults } = parse(opening.repeat(50_000))
    expect(faults).toEqual([
      expect.stringMatching(new RegExp(`^1:\\d+ CONFIG_SYNTAX nested more than ${maxDepth} levels deep`)),
    ])
  })

  it('nested without end by indentation (ERR-1)', () => {
    const text = Array.from({ length: 1_000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')
    expect(parse(text).faults).toEqual([expect.stringMatching(/nested more than/)])
  })

  it('a bomb of aliases, once (ERR-1)', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
    for (let i = 1; i < 20; i++)
      lines.push(
        `a${i}: &a${i} [${Array(10)
          .fill(`*a${i - 1}`)
          .join(', ')}]`,
      )
    const { faults } = parse(lines.join('\n'))
    expect(faults).toEqual([expect.stringMatching(new RegExp(`aliases expand to more than ${maxExpanded} values`))])
  })

  it('with many keys or many faults, in time that does not grow with their square (ERR-1)', () => {
    const keys = Array.from({ length: 20_000 }, (_, i) => `k${i}: 1`).join('\n')
    expect(Object.keys(Object(valueIn(keys)))).toHaveLength(20_000)
    expect(parse('a: b: c\n'.repeat(20_000)).faults.length).toBeLessThanOrEqual(20)
  })
})

describe('any text', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'a',
      'b: ',
      '- ',
      '? ',
      ': ',
      '{',
      '}',
      '[',
      ']',
      ',',
      '"',
      "'",
      '\n',
      '\n  ',
      '\t',
      '#',
      '&a ',
      '*a',
      '!',
      '!!str ',
      '|',
      '>',
      '%',
      '@',
      '---\n',
      '...\n',
      '<<: ',
      '\\',
      '\r\n',
      '\uFEFF',
      '~',
      '.inf',
    ),
    fc.string({ maxLength: 5, unit: 'binary' }),
  )
  it('is a tree of JSON values or a list of located problems, never an exception (ERR-1)', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('')
        const { node, report } = parse(text)
        if (node !== undefined) {
          expect(JSON.parse(JSON.stringify(toJs(node)))).toEqual(toJs(node))
          return
        }
        expect(report.problems.length).toBeGreaterThan(0)
        for (const { where } of report.problems) expect(where?.line).toBeLessThanOrEqual(text.split('\n').length)
        formatProblems(report.problems)
      }),
    )
  })
})
