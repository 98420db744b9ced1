// Folders of models: tokenizers, configurations, chat templates, weights, checkpoints.
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeCheckpoint, encodeCheckpoint } from '../../src/engine/files/checkpoint.ts'
import { parseModelConfig } from '../../src/engine/files/model-config.ts'
import { encodeSafetensors, openSafetensors } from '../../src/engine/files/safetensors-file.ts'
import type { KeyedRandom } from '../../src/kernel/index.ts'
import { openChatTemplate, openTokenizer, readChatTemplate } from '../../src/models/index.ts'
import type { Kind } from './kinds.ts'

const { signal } = new AbortController()
const deep = (count: number) => `${'['.repeat(count)}${']'.repeat(count)}`
// Of the repository, in which this process was started.
const models = join(process.cwd(), 'models')
const read = (name: string) => readFileSync(join(models, name), 'utf8')
const chats = () => JSON.parse(readFileSync(join(process.cwd(), 'tests/fixtures/tokenizers/chats.json'), 'utf8')).nano
const spoken = 'Hello <|im_end|> 漢字 😀 <unk> it is 42\n\n x'
const template = () => String(JSON.parse(read('nano/tokenizer_config.json')).chat_template)

let shared: ReturnType<typeof openTokenizer> | undefined
async function render(source: string): Promise<void> {
  shared ??= openTokenizer(join(models, 'nano'))
  const renderer = await openChatTemplate({ tokenizer: await shared, template: source })
  for (const { messages } of chats().slice(0, 3)) renderer.conversation(messages)
}

async function useFolder(dir: string): Promise<void> {
  const tokenizer = await openTokenizer(dir)
  tokenizer.decode(tokenizer.encode(spoken, { special: true }))
  const found = await readChatTemplate(dir)
  if (found === undefined) return
  const renderer = await openChatTemplate({ tokenizer, template: found })
  renderer.conversation([
    { role: 'user', content: spoken },
    { role: 'assistant', content: spoken },
  ])
}

const vocabulary = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`t${at}`, at]))
const bpe = (over: object, rest: object = {}) =>
  JSON.stringify({
    version: '1.0',
    added_tokens: [],
    model: { type: 'BPE', vocab: vocabulary(300), merges: [], ...over },
    ...rest,
  })

const floats = (count: number) => Float64Array.from({ length: count }, (_, at) => at / 7)
const header = (value: unknown, bytes = 0) => {
  const text = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(text.length))
  return Buffer.concat([length, text, Buffer.alloc(bytes)])
}

export const modelKinds: readonly Kind[] = [
  {
    name: 'tokenizer.json',
    count: 1000,
    seeds: () => [read('nano/tokenizer.json')],
    bombs: {
      'a hundred thousand levels': () => `{"model":${deep(100_000)}}`,
      'a million tokens': () => bpe({ vocab: vocabulary(1_000_000) }),
      'a million wrong merges': () => bpe({ merges: Array.from({ length: 1_000_000 }, () => 'a b') }),
      'a million wrong ids': () =>
        bpe({ vocab: Object.fromEntries(Array.from({ length: 500_000 }, (_, at) => [`t${at}`, -1])) }),
      'a pattern that backtracks': () =>
        bpe({}, { pre_tokenizer: { type: 'Split', pattern: { Regex: '(a+)+$' }, behavior: 'Isolated' } }),
      'a pattern of ten thousand groups': () =>
        bpe(
          {},
          {
            pre_tokenizer: {
              type: 'Split',
              pattern: { Regex: '('.repeat(10_000) + ')'.repeat(10_000) },
              behavior: 'Isolated',
            },
          },
        ),
      'a pattern that repeats a billion times': () =>
        bpe(
          {},
          { pre_tokenizer: { type: 'Split', pattern: { Regex: '((a{1000}){1000}){1000}' }, behavior: 'Isolated' } },
        ),
      'sequences in sequences': () => bpe({}, { normalizer: nested(500) }),
      'a hundred thousand added tokens': () =>
        bpe(
          {},
          {
            added_tokens: Array.from({ length: 100_000 }, (_, id) => ({
              id: id + 300,
              content: `<${id}>`,
              special: true,
            })),
          },
        ),
      'a token of ten megabytes': () => bpe({ vocab: { ['x'.repeat(10_000_000)]: 0 } }),
      'texts that grow': () =>
        bpe(
          {},
          {
            normalizer: {
              type: 'Sequence',
              normalizers: Array.from({ length: 60 }, () => ({
                type: 'Replace',
                pattern: { String: 'e' },
                content: 'ee',
              })),
            },
          },
        ),
    },
    async use(input, dir) {
      writeFileSync(join(dir, 'tokenizer.json'), input)
      await useFolder(dir)
    },
  },
  {
    name: 'tokenizer_config.json',
    count: 700,
    seeds: () => [read('nano/tokenizer_config.json')],
    bombs: {
      'a hundred thousand levels': () => `{"chat_template":${deep(100_000)}}`,
      'half a million decoders': () =>
        JSON.stringify({
          added_tokens_decoder: Object.fromEntries(
            Array.from({ length: 100_000 }, (_, at) => [`${at}`, { content: `<${at}>` }]),
          ),
        }),
      'a million wrong special tokens': () =>
        JSON.stringify({ additional_special_tokens: Array.from({ length: 1_000_000 }, () => 1) }),
      'thirty megabytes': () => JSON.stringify({ chat_template: 'x'.repeat(30_000_000) }),
    },
    async use(input, dir) {
      cpSync(join(models, 'nano', 'tokenizer.json'), join(dir, 'tokenizer.json'))
      writeFileSync(join(dir, 'tokenizer_config.json'), input)
      await useFolder(dir)
    },
  },
  {
    name: 'chat template',
    count: 1500,
    seeds: () => [
      template(),
      '{% for m in messages %}{{ m.role }}: {{ m["content"] | trim }}\n{% endfor %}{% if add_generation_prompt %}a:{% endif %}',
    ],
    mutate: (seed, random) => (random.int(2) === 0 ? randomTemplate(random, 4) : pieced(String(seed), random)),
    bombs: {
      'loops in loops': () =>
        `${Array.from({ length: 8 }, (_, at) => `{% for v${at} in range(1000) %}`).join('')}x${'{% endfor %}'.repeat(8)}`,
      'a macro that calls itself': () => '{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}',
      'two macros that call each other': () =>
        '{% macro f(x) %}{{ g(x) }}{{ g(x) }}{% endmacro %}{% macro g(x) %}{{ f(x) }}{{ f(x) }}{% endmacro %}{{ f(1) }}',
      'a text that doubles': () =>
        `{% set ns = namespace(t="x") %}{% for i in range(100) %}{% set ns.t = ns.t + ns.t %}{% endfor %}{{ ns.t }}`,
      'a list that doubles': () =>
        `{% set ns = namespace(t=[1]) %}{% for i in range(100) %}{% set ns.t = ns.t + ns.t %}{% endfor %}{{ ns.t | length }}`,
      'a range without end': () => '{% for i in range(1000000000000) %}x{% endfor %}',
      'ranges in ranges': () => '{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}',
      'a text times a number': () => '{{ "x" * 1000000000 }}',
      'a filter that multiplies': () => '{{ ("x" * 1000000) | replace("x", "x" * 1000000) }}',
      'joined lists': () => '{{ range(99999) | list | join("x" * 100000) }}',
      indents: () => '{{ ("\\n" * 100000) | indent(100000) }}',
      'a value that holds itself': () => '{% set a = [] %}{% set _ = a.append(a) %}{{ a }}{{ a | tojson }}',
      'a hundred thousand levels': () => `{{ ${'('.repeat(100_000)}1${')'.repeat(100_000)} }}`,
      'a hundred thousand conditions': () => `${'{% if true %}'.repeat(100_000)}${'{% endif %}'.repeat(100_000)}`,
      'a hundred thousand additions': () => `{{ ${'1+'.repeat(100_000)}1 }}`,
      'a megabyte of text': () => 'x'.repeat(2 ** 20),
      'a text without end': () => `{{ "${'x'.repeat(900_000)}`,
      'a comment without end': () => `{# ${'x'.repeat(900_000)}`,
      'an import of itself': () => '{% import "chat_template.jinja" as t %}{{ t }}',
      'an include of itself': () => '{% include "chat_template.jinja" %}',
      'sorted and grouped': () =>
        '{% for i in range(1000) %}{{ range(9999) | list | sort(reverse=true) | unique | list | length }}{% endfor %}',
      'a split of a long text': () => '{{ ("x " * 500000).split(" ") | length }}{{ ("x" * 900000) | list | length }}',
    },
    use: (input) => render(typeof input === 'string' ? input : Buffer.from(input).toString('utf8')),
  },
  {
    name: 'config.json of a model',
    count: 700,
    seeds: () => [read('nano/config.json')],
    bombs: {
      'a hundred thousand levels': () => deep(100_000),
      'a billion layers': () => JSON.stringify({ ...JSON.parse(read('nano/config.json')), num_hidden_layers: 1e9 }),
      'nine megabytes of keys': () => JSON.stringify(vocabulary(500_000)),
      'levels without end': () => '{"a":'.repeat(1_000_000),
    },
    use: async (input) => parseModelConfig(String(input), 'config.json'),
  },
  {
    name: 'safetensors',
    count: 1200,
    seeds: () => [
      encodeSafetensors(
        new Map([
          ['a', { shape: [2, 3], data: floats(6), dtype: 'F32' }],
          ['b.c', { shape: [4], data: floats(4), dtype: 'F64' }],
        ] as never),
        { format: 'pt' },
      ),
    ],
    bombs: {
      'a header of an exabyte': () => Buffer.from('ffffffffffffff0f7b7d', 'hex'),
      'a header of ninety megabytes that is not there': () =>
        Buffer.concat([header('').subarray(0, 0), Buffer.from('005d5d0500000000', 'hex'), Buffer.alloc(100)]),
      'a header of forty megabytes of spaces': () => header(`{}${' '.repeat(40_000_000)}`),
      'three hundred thousand tensors': () =>
        header(
          Object.fromEntries(
            Array.from({ length: 300_000 }, (_, at) => [`t${at}`, { dtype: 'F32', shape: [0], data_offsets: [0, 0] }]),
          ),
        ),
      'a hundred thousand levels': () => header(deep(100_000)),
      'a tensor of an exabyte': () =>
        header({ a: { dtype: 'F32', shape: [2 ** 40, 2 ** 20], data_offsets: [0, 16] } }, 16),
      'a shape of a million sides': () =>
        header({ a: { dtype: 'F32', shape: Array.from({ length: 1_000_000 }, () => 1), data_offsets: [0, 4] } }, 4),
      'equal names': () =>
        header(`{${'"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},'.repeat(100_000)}"b":1}`, 4),
    },
    async use(input, dir) {
      const path = join(dir, 'm.safetensors')
      writeFileSync(path, input)
      await using file = await openSafetensors(path)
      for (const name of file.tensors.keys()) await file.read(name, signal)
    },
  },
  {
    name: 'checkpoint',
    count: 900,
    seeds: () => [
      encodeCheckpoint({
        baseModel: 'evsys/tiny',
        lora: { rank: 2, seed: 1, trainAttention: true, trainMlp: true, trainUnembedding: true },
        alpha: 32,
        weights: new Map([['a', { shape: [2, 2], data: floats(4) }]]),
        adam: {
          step: 1,
          first: new Map([['a', { shape: [2, 2], data: floats(4) }]]),
          second: new Map([['a', { shape: [2, 2], data: floats(4) }]]),
        },
      }),
    ],
    bombs: {
      'a header of an exabyte': () => Buffer.from('ffffffffffffff0f7b7d', 'hex'),
      'a hundred thousand levels': () => header(deep(100_000)),
      'three hundred thousand tensors': () =>
        header(
          Object.fromEntries(
            Array.from({ length: 300_000 }, (_, at) => [`t${at}`, { dtype: 'F64', shape: [0], data_offsets: [0, 0] }]),
          ),
        ),
    },
    use: async (input) => decodeCheckpoint(typeof input === 'string' ? Buffer.from(input) : input),
  },
]

function nested(levels: number): unknown {
  let value: unknown = { type: 'NFC' }
  for (let level = 0; level < levels; level++) value = { type: 'Sequence', normalizers: [value] }
  return value
}

const names = ['messages', 'm', 'ns', 'x', 'loop.index', 'messages[0].content', 'bos_token', 'undefined_name']
const filters = [
  'length',
  'list',
  'tojson',
  'upper',
  'trim',
  'join(",")',
  'first',
  'last',
  'sort',
  'reverse',
  'string',
  'int',
  'items',
  'nothing',
]
const words = ['x', '', 'role', '<|im_start|>', '漢']

/** A random expression of the language. */
function expression(random: KeyedRandom, depth: number): string {
  const inner = () => expression(random, depth - 1)
  if (depth <= 0)
    return (
      [names[random.int(names.length)], `"${words[random.int(words.length)]}"`, `${random.int(100)}`, 'true', 'none'][
        random.int(5)
      ] ?? ''
    )
  switch (random.int(9)) {
    case 0:
      return `(${inner()} + ${inner()})`
    case 1:
      return `${inner()} ~ ${inner()}`
    case 2:
      return `(${inner()}) | ${filters[random.int(filters.length)]}`
    case 3:
      return `[${inner()}, ${inner()}]`
    case 4:
      return `{"a": ${inner()}}`
    case 5:
      return `(${inner()})[${inner()}]`
    case 6:
      return `(${inner()} if ${inner()} else ${inner()})`
    case 7:
      return `range(${inner()})`
    default:
      return `(${inner()}) ${['==', '<', 'in', 'and', 'or', '*', '//', 'is defined and'][random.int(8)]} (${inner()})`
  }
}

/** A random program of the language: nested loops, conditions, macros and variables. */
function randomTemplate(random: KeyedRandom, depth: number): string {
  const inner = () => (depth <= 0 ? `{{ ${expression(random, 2)} }}` : randomTemplate(random, depth - 1))
  switch (random.int(7)) {
    case 0:
      return `{% for m in ${expression(random, 2)} %}${inner()}{% endfor %}`
    case 1:
      return `{% if ${expression(random, 2)} %}${inner()}{% else %}${inner()}{% endif %}`
    case 2:
      return `{% set x = ${expression(random, 2)} %}${inner()}`
    case 3:
      return `{% set ns = namespace(t=${expression(random, 1)}) %}{% for i in range(${random.int(300)}) %}{% set ns.t = ns.t + ${expression(random, 1)} %}{% endfor %}${inner()}`
    case 4:
      return `{% macro f(m) %}${inner()}{% endmacro %}{{ f(${expression(random, 1)}) }}`
    case 5:
      return `{{ ${expression(random, 3)} }}${inner()}`
    default:
      return `{% for m in messages %}{{ m.role }}${inner()}{% endfor %}`
  }
}

const tags = [
  '{%',
  '%}',
  '{{',
  '}}',
  '{#',
  '#}',
  '-',
  '|',
  '(',
  ')',
  '[',
  ']',
  '"',
  'endfor',
  'endif',
  'for',
  'if',
  'set',
  'range(99999)',
  '*',
  '~',
]

/** A template with pieces of the language put in and taken out. */
function pieced(text: string, random: KeyedRandom): string {
  let changed = text
  for (let changes = 1 + random.int(4); changes > 0; changes--) {
    const at = random.int(changed.length + 1)
    changed = changed.slice(0, at) + (tags[random.int(tags.length)] ?? '') + changed.slice(at + random.int(10))
  }
  return changed
}
