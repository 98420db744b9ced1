import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { referenceCases, writeModelFolder } from '../../../tests/model-folder.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { openTokenizer } from './open-tokenizer.ts'

const folder = temporaryFolders()
const names = Object.keys(referenceCases)
const open = (name: string, files = {}) => openTokenizer(writeModelFolder(folder(), name, files))

const hostileText = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      '<|im_start|>',
      '<|im_end|>',
      '<|endoftext|>',
      '<think>',
      '</s>',
      '<unk>',
      ' ',
      '\n',
      '<0x0A>',
      '\ud800',
    ),
    fc.string({ unit: 'grapheme', maxLength: 3 }),
  ),
  maxLength: 12,
})

describe('openTokenizer', () => {
  it.each(names)(
    '%s: gives the ids of the reference implementation, with special tokens and without (MOD-1)',
    async (name) => {
      const tokenizer = await open(name)
      for (const { text, special, plain } of referenceCases[name] ?? []) {
        expect([text, ...tokenizer.encode(text, { special: true })]).toEqual([text, ...special])
        expect([text, ...tokenizer.encode(text)]).toEqual([text, ...plain])
      }
    },
  )

  it.each(names)('%s: decodes as the reference implementation does (MOD-2)', async (name) => {
    const tokenizer = await open(name)
    for (const { special, decoded } of referenceCases[name] ?? []) {
      expect(tokenizer.decode(Int32Array.from(special))).toBe(decoded)
    }
  })

  it.each(['evsys/nano', 'gpt2', 'llama3', 'llama2'])(
    '%s: content never becomes a special token (MOD-3)',
    async (name) => {
      const tokenizer = await open(name)
      const special = new Set(tokenizer.special.values())
      expect(special.size).toBeGreaterThan(2)
      fc.assert(
        fc.property(hostileText, (text) => {
          expect([...tokenizer.encode(text)].filter((token) => special.has(token))).toEqual([])
          const guarded = text.replaceAll(/<(?=[|/u])/g, '<\uFDD0')
          expect([...tokenizer.encodeGuarded(guarded, '\uFDD0')].filter((token) => special.has(token))).toEqual([])
        }),
      )
    },
  )

  it.each(['evsys/nano', 'evsys/tiny', 'llama3'])('%s: gives back every text (MOD-2)', async (name) => {
    const tokenizer = await open(name)
    fc.assert(
      fc.property(hostileText, fc.boolean(), (text, special) => {
        const wellFormed = Buffer.from(text).toString()
        expect(tokenizer.decode(tokenizer.encode(text, { special }))).toBe(wellFormed)
      }),
    )
  })

  it.each(names)('%s: guards change nothing but what they guard (MOD-3)', async (name) => {
    const tokenizer = await open(name)
    for (const { text, special } of referenceCases[name] ?? []) {
      expect([text, ...tokenizer.encodeGuarded(text, '\uFDD0')]).toEqual([text, ...special])
      const guarded = [...text].join('\uFDD0')
      expect([text, ...tokenizer.encodeGuarded(guarded, '\uFDD0')]).toEqual([text, ...tokenizer.encode(text)])
    }
  })

  it('decodes any tokens of the model and refuses others (MOD-2)', async () => {
    const tokenizer = await open('evsys/nano')
    fc.assert(
      fc.property(fc.array(fc.nat(tokenizer.vocabSize - 1)), (tokens) => {
        expect(typeof tokenizer.decode(Int32Array.from(tokens))).toBe('string')
      }),
    )
    for (const token of [-1, tokenizer.vocabSize])
      expect(() => tokenizer.decode(Int32Array.from([token]))).toThrow(RangeError)
  })

  it('knows the tokens that have a role (MOD-4)', async () => {
    const tokenizer = await open('evsys/nano')
    expect(tokenizer).toMatchObject({ vocabSize: 512, bos: 505, eos: 507, pad: 505 })
    expect([...tokenizer.special.keys()]).toEqual(['<|endoftext|>', '<|im_start|>', '<|im_end|>'])
    expect(tokenizer.piece(508)).toBe('<think>')
    expect(tokenizer.piece(512)).toBeUndefined()
    expect(await open('gpt2')).toMatchObject({ bos: undefined, eos: undefined, pad: undefined })
    // As an object, and flagged as special only by its role.
    const named = await open('gpt2', {
      'tokenizer_config.json': { eos_token: { content: '<think>' }, bos_token: null },
    })
    expect(named.eos).toBe(named.encode('<think>', { special: true })[0])
    expect(named.encode('<think>').length).toBeGreaterThan(1)
  })

  it('takes tokens that only tokenizer_config.json lists, and the rows of the model beyond them (MOD-4)', async () => {
    const size = (await open('gpt2')).vocabSize
    const tokenizer = await open('gpt2', {
      'tokenizer_config.json': { added_tokens_decoder: { [size]: { content: '<|more|>', special: true } } },
      'config.json': { vocab_size: size + 10 },
    })
    expect([...tokenizer.encode('<|more|>', { special: true })]).toEqual([size])
    expect(tokenizer.encode('<|more|>').length).toBeGreaterThan(1)
    expect(tokenizer.vocabSize).toBe(size + 10)
    expect(tokenizer.decode(Int32Array.from([size + 9, size]))).toBe('<|more|>')
  })

  it('takes a token of any name (MOD-4)', async () => {
    const at = writeModelFolder(folder(), 'evsys/nano')
    const file = join(at, 'tokenizer.json')
    writeFileSync(file, readFileSync(file, 'utf8').replace('"vocab":{', '"vocab":{"__proto__":512,"constructor":513,'))
    const tokenizer = await openTokenizer(at)
    expect(tokenizer.decode(Int32Array.of(512, 513))).toBe('__proto__constructor')
    expect(tokenizer.decode(tokenizer.encode('__proto__'))).toBe('__proto__')
  })

  it('tells where a file is wrong (MOD-5)', async () => {
    const at = folder()
    const path = join(at, 'tokenizer.json')
    const write = (text: string) => writeFileSync(path, text)
    await expect(openTokenizer(at)).rejects.toMatchObject({
      code: 'MODEL_INVALID',
      message: `${at} holds no tokenizer.json`,
    })
    write('{"model":\n  {"type": "BPE",}}')
    await expect(openTokenizer(at)).rejects.toMatchObject({
      code: 'MODEL_INVALID',
      where: { file: path, line: 2, col: 18 },
    })
    write(`{"model": {"vocab": {"a": 0, "b": 1, "ab": -1},\n "merges": ["a b", "a b c", 7]}}`)
    const wrong = await openTokenizer(at).catch((cause) => cause)
    expect(wrong.problems).toMatchObject([
      {
        message: expect.stringContaining('expected a whole number'),
        where: { line: 1, col: 44, path: 'model.vocab.ab' },
      },
      { message: 'model.merges.1: expected two tokens', where: { line: 2, col: 20 } },
      { message: 'model.merges.2: expected two tokens', where: { line: 2, col: 29 } },
    ])
    write(`{"model": {"vocab": {"a": 0, "b": 0, "ab": 1},\n "merges": [["a", "b"],\n ["b", "a"]]}}`)
    const error = await openTokenizer(at).catch((cause) => cause)
    expect(error.problems).toMatchObject([
      { message: 'model.vocab.b: token 0 is "a" already', where: { line: 1, col: 35 } },
      { message: 'model.merges.1: "ba" is not in the vocabulary', where: { line: 3, col: 2 } },
    ])
    mkdirSync(join(at, 'x', 'tokenizer.json'), { recursive: true })
    await expect(openTokenizer(join(at, 'x'))).rejects.toMatchObject({ code: 'MODEL_INVALID' })
  })

  it.each([
    [{ pre_tokenizer: { type: 'Whitespace' } }, 'pre_tokenizer "Whitespace" cannot be followed exactly'],
    [{ pre_tokenizer: { type: 'Split', pattern: { String: ' ' }, behavior: 'MergedWithPrevious' } }, 'this behavior'],
    [{ pre_tokenizer: { type: 'Split', pattern: { Regex: '(a+)+b' }, behavior: 'Isolated' } }, 'could run without end'],
    [{ normalizer: { type: 'Replace', pattern: { Regex: '(a|ab)*c' }, content: '' } }, 'could run without end'],
    [{ normalizer: { type: 'Precompiled' } }, 'normalizer "Precompiled" cannot be followed exactly'],
    [{ decoder: { type: 'Sequence', decoders: [{ type: 'CTC' }] } }, 'decoder "CTC" cannot be followed exactly'],
    [{ model: { type: 'Unigram', vocab: [['a', 0]] } }, 'model.type'],
    [{ added_tokens: [{ id: 2 ** 30, content: 'x' }] }, 'added_tokens.0.id'],
  ])('refuses what it could not follow exactly or safely: %j (MOD-6)', async (change, message) => {
    const at = writeModelFolder(folder(), 'evsys/nano')
    const file = join(at, 'tokenizer.json')
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...change }))
    await expect(openTokenizer(at)).rejects.toMatchObject({
      code: 'MODEL_INVALID',
      message: expect.stringContaining(message),
      where: { file },
    })
  })
})
