import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { scaled } from '../../../../tests/scale.ts'
import { yamlValue } from '../../../config/index.ts'
import { rewriteYaml } from './rewrite-yaml.ts'

type Mapping = Record<string, unknown>

interface Example {
  run: {
    data: { transforms: { kind: string; params?: Mapping }[] }
    algorithm: { params: Mapping }
    agent?: unknown
  }
}

const document = `# What this is for.
name: x
run:
  data:
    path: train.jsonl # the log
    transforms:
      # repeats
      - { kind: dedupe, params: { key: query } } # by its text
      - {
          kind: jsonl_to_chat,
          params: { user_template: "Q: {query}", assistant_template: "{tool}" },
        }
  # tuned by hand
  algorithm:
    kind: sft
    params:
      learning_rate: 1e-3   # peak
      max_steps: 600
  backend: { kind: local }
`

function changed(change: (value: Example) => void): string {
  const copy = structuredClone(yamlValue(document, 'x')) as Example & Mapping
  change(copy)
  return rewriteYaml(document, copy)
}

/** Lines that went and lines that came. */
function difference(after: string): string[] {
  const [a, b] = [document.split('\n'), after.split('\n')]
  return [
    ...a.filter((line) => !b.includes(line)).map((line) => `-${line}`),
    ...b.filter((line) => !a.includes(line)).map((line) => `+${line}`),
  ]
}

describe('rewriteYaml', () => {
  it.each<[string, (of: Example) => void, string[]]>([
    [
      'a number keeps its comment',
      ({ run }) => (run.algorithm.params.learning_rate = 2e-5),
      ['-      learning_rate: 1e-3   # peak', '+      learning_rate: 0.00002   # peak'],
    ],
    ['a key comes behind the others', ({ run }) => (run.algorithm.params.lora_rank = 4), ['+      lora_rank: 4']],
    ['a key goes with its line', ({ run }) => delete run.algorithm.params.max_steps, ['-      max_steps: 600']],
    [
      'a key comes into braces',
      ({ run }) => Object.assign(run.data.transforms[0]?.params ?? {}, { mode: 'near' }),
      [
        '-      - { kind: dedupe, params: { key: query } } # by its text',
        '+      - { kind: dedupe, params: { key: query, mode: near } } # by its text',
      ],
    ],
    [
      'an item comes first',
      ({ run }) => run.data.transforms.unshift({ kind: 'shuffle' }),
      ['+      - { kind: shuffle }'],
    ],
    ['an item comes last', ({ run }) => run.data.transforms.push({ kind: 'shuffle' }), ['+      - { kind: shuffle }']],
    [
      'an item goes',
      ({ run }) => run.data.transforms.shift(),
      ['-      - { kind: dedupe, params: { key: query } } # by its text'],
    ],
    [
      'a quoted text stays quoted',
      ({ run }) => Object.assign(run.data.transforms[1]?.params ?? {}, { user_template: '{query}' }),
      [
        '-          params: { user_template: "Q: {query}", assistant_template: "{tool}" },',
        '+          params: { user_template: "{query}", assistant_template: "{tool}" },',
      ],
    ],
    [
      'a block comes',
      ({ run }) => (run.agent = { kind: 'chat', params: { system_prompt: 'a\nb\n' } }),
      ['+  agent:', '+    kind: chat', '+      system_prompt: |', '+        a', '+        b'],
    ],
  ])('changes only what differs: %s (CFG-600)', (_, change, lines) => {
    expect(difference(changed(change))).toEqual(lines)
  })

  it('moves an item with its text (CFG-600)', () => {
    const after = changed(({ run }) => run.data.transforms.reverse())
    expect(after.indexOf('jsonl_to_chat')).toBeLessThan(after.indexOf('dedupe'))
    expect(after).toContain('# tuned by hand')
    expect(after).toContain('params: { user_template: "Q: {query}", assistant_template: "{tool}" },')
  })

  it('writes aliases out where something changes, and leaves them where nothing does (CFG-600)', () => {
    const text = 'a: &a { x: 1 }\nb: *a\nc:\n  - &c { y: 2 }\n  - *c\nd: { <<: *a, z: 3 } # d\n'
    const before = yamlValue(text, 'x') as Mapping
    expect(rewriteYaml(text, before)).toBe(text)
    const after = { ...before, b: { x: 5 } }
    expect(rewriteYaml(text, after)).toBe(
      'a: { x: 1 }\nb: { x: 5 }\nc:\n  - { y: 2 }\n  - { y: 2 }\nd: { z: 3, x: 1 } # d\n',
    )
  })

  it('says the value that it is given, whatever stands there (CFG-600)', () => {
    fc.assert(
      fc.property(yamlText(), mapping, (text, wanted) => {
        const before = yamlValue(text, 'x')
        expect(rewriteYaml(text, before as Mapping)).toBe(text)
        expect(yamlValue(rewriteYaml(text, wanted), 'x')).toEqual(wanted)
      }),
      { numRuns: scaled(60) },
    )
  })

  it('says what a bundled example says after any change in its middle (CFG-600)', () => {
    const examples = join(import.meta.dirname, '../../../../examples')
    const texts = readdirSync(examples).map((name) => readFileSync(join(examples, name, 'experiment.yaml'), 'utf8'))
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.infiniteStream(fc.nat(1e6)), json, (text, draws, put) => {
        const before = yamlValue(text, 'x') as Mapping
        const after = changedAt(before, draws, put) as Mapping
        const rewritten = rewriteYaml(text, after)
        expect(yamlValue(rewritten, 'x')).toEqual(after)
        const comments = (of: string) => of.split('\n').filter((line) => line.startsWith('#'))
        expect(comments(rewritten)).toEqual(comments(text))
      }),
      { numRuns: scaled(60) },
    )
  })
})

const word = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    'kind',
    'params',
    'x y',
    '1',
    'true',
    'null',
    '-',
    '# no',
    'a: b',
    '{q}',
    "it's",
    '"',
    ' lead',
    '',
    'ä',
    '~',
    '<<x',
    '*a',
    '&a',
    '|',
    '>',
    '%',
    '@',
  ),
  fc.string({ maxLength: 6 }),
)
const scalar = fc.oneof(
  word,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom(0.1, 1e-7, 1e21, -2.5),
  fc.constant('two\nlines\n'),
  fc.constant('a\n\n b'),
)
const key = word.filter((text) => !['__proto__', '<<'].includes(text) && text.trim() !== '')
const { json, mapping } = fc.letrec<{ json: unknown; mapping: Mapping }>((tie) => ({
  json: fc.oneof({ maxDepth: 4 }, scalar, fc.array(tie('json'), { maxLength: 4 }), tie('mapping')),
  mapping: fc.dictionary(key, tie('json'), { maxKeys: 4, noNullPrototype: true }),
}))

/** A mapping as a person may have written it: in blocks or braces, with comments. */
function yamlText() {
  return fc
    .record({
      value: mapping,
      indent: fc.constantFrom(1, 2, 4),
      flow: fc.boolean(),
      compact: fc.boolean(),
      comment: fc.boolean(),
    })
    .map(({ value: wanted, indent, flow, compact, comment }) => {
      const text = stringify(
        { name: 'x', inner: wanted },
        { indent, indentSeq: !compact, lineWidth: 0, collectionStyle: flow ? 'any' : 'block' },
      )
      return comment ? `# top\n${text.replace(/^name: x$/m, 'name: x # name')}# end\n` : text
    })
    .filter(isReadable) // an empty list below a key of its own column is no YAML
}

function isReadable(text: string): boolean {
  try {
    return yamlValue(text, 'x') !== undefined
  } catch {
    return false
  }
}

/** `value` with one thing in it changed: another value, an item more or less, or two in each other's place. */
function changedAt(value: unknown, draws: Iterator<number>, put: unknown): unknown {
  const draw = (n: number) => draws.next().value % n
  if (Array.isArray(value) && value.length > 0) {
    const at = draw(value.length)
    const kinds = [
      () => value.toSpliced(at, 1),
      () => value.toSpliced(at, 0, put),
      () => value.toSpliced(at, 1).toSpliced(draw(value.length), 0, value[at]),
      () => value.with(at, changedAt(value[at], draws, put)),
    ]
    return kinds[draw(kinds.length)]?.()
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return put
  const keys = Object.keys(value)
  const name = keys[draw(Math.max(1, keys.length))]
  if (name === undefined) return put
  const { [name]: old, ...rest } = value as Mapping
  const kind = draw(6)
  if (kind === 0) return rest
  if (kind === 1) return { ...value, added: put }
  return { ...value, [name]: changedAt(old, draws, put) }
}
