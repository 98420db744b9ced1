// A model's own tokenizer: tokenizer.json through @huggingface/tokenizers, behind the contract. Two instances of the library:
// one that knows the special tokens, and one to which they are unknown, so that content can never become one.
import * as z from 'zod'
import type { Tokenizer } from '../../contracts/index.ts'
import { EvsysError, messageOf } from '../../kernel/index.ts'
import { fileFault, type ModelFile, readModelFile, requireModelFile } from '../files/model-file.ts'
import { type NormalForm, normalFormOf, tokenBytes } from './token-bytes.ts'
import {
  type AddedToken,
  mostTokens,
  parseTokenizerConfig,
  parseTokenizerFile,
  type TokenizerConfig,
  type TokenizerFile,
} from './tokenizer-file.ts'

/** A tokenizer read from a model's folder. */
export interface ModelTokenizer extends Tokenizer {
  /** Ids of the tokens that have a role; undefined where the model has none. */
  readonly bos: number | undefined
  readonly eos: number | undefined
  readonly pad: number | undefined
  /** Special tokens by name. Text becomes one only with `special: true`. */
  readonly special: ReadonlyMap<string, number>
  /** How a token is written in the vocabulary; undefined for an id that no token has. */
  piece(token: number): string | undefined
  /** The bytes that a token stands for; undefined where it cannot be said token by token. */
  bytes(token: number): Uint8Array | undefined
  /** The Unicode form that text is brought into before it is cut into tokens. */
  readonly normalForm: NormalForm | undefined
  /**
   * As `encode` with `special`, but a special token whose name holds the character `guard` stays plain text; the guards are
   * not part of the text. For text that is written by a template and by others.
   */
  encodeGuarded(text: string, guard: string): Int32Array
}

/** Whether a tokenizer was read from a model's folder: the only ones with both. */
export function isModelTokenizer(tokenizer: Tokenizer): tokenizer is ModelTokenizer {
  return 'encodeGuarded' in tokenizer && 'special' in tokenizer
}

const tokenizerLimitBytes = 128 * 2 ** 20
const configLimitBytes = 16 * 2 ** 20
const longestText = 2 ** 26

/** Opens the tokenizer of a model's folder. A file that cannot be followed exactly is an error with its place. */
export async function openTokenizer(folder: string): Promise<ModelTokenizer> {
  const file = await requireModelFile(folder, 'tokenizer.json', tokenizerLimitBytes)
  const tokenizer = parseTokenizerFile(file)
  const config = parseTokenizerConfig(await readModelFile(folder, 'tokenizer_config.json', configLimitBytes))
  const { Tokenizer: Library } = await import('@huggingface/tokenizers')
  return createTokenizer({ file, tokenizer, config, rows: await modelRows(folder), Library })
}

// The part of the library that is used; its own types do not resolve under Node's module rules.
type Library = new (
  tokenizer: object,
  config: object,
) => {
  encode(text: string, options: { add_special_tokens: boolean }): { ids: number[] }
  decode(tokens: number[], options: { clean_up_tokenization_spaces: boolean }): string
  decoder: unknown
}
type Opened = { file: ModelFile; tokenizer: TokenizerFile; config: TokenizerConfig; rows: number; Library: Library }

function createTokenizer({ file, tokenizer, config, rows, Library }: Opened): ModelTokenizer {
  const added = addedTokens(tokenizer, config)
  const special = specialTokens(added, config)
  const pieces = piecesOf(tokenizer, added)
  const vocabSize = [...pieces.keys()].reduce((size, id) => Math.max(size, id + 1), rows)
  const full = build(file, () => new Library(document(tokenizer, added), {}))
  keepByteOrderMarks(full.decoder)
  const plain = build(file, () => new Library(plainDocument(tokenizer, added, special, vocabSize), {}))
  const specialIds = new Set(special.values())
  const specialPattern = anyOf([...special.keys()])
  const strips = new Map(added.map((token) => [token.content, token]))
  const unknown = tokenizer.model.unk_token == null ? undefined : special.get(tokenizer.model.unk_token)
  const role = (name: string | null | undefined) => (name == null ? undefined : special.get(name))

  const plainTokens = (text: string): number[] => {
    const { ids } = plain.encode(text, { add_special_tokens: false })
    // By construction there is none; a turn that content forged would go unnoticed, so it is checked.
    const forged = ids.find((id) => specialIds.has(id) && id !== unknown)
    if (forged !== undefined) throw fileFault(file, [], `plain text became the special token ${pieces.get(forged)}`)
    return ids
  }
  return Object.freeze({
    vocabSize,
    special,
    bos: role(config.bos_token),
    eos: role(config.eos_token),
    pad: role(config.pad_token),
    piece: (token: number) => pieces.get(token),
    encode(text: string, options: { special?: boolean | undefined } = {}): Int32Array {
      const clean = checkText(text)
      if (clean === '') return new Int32Array()
      if (options.special !== true) return Int32Array.from(plainTokens(clean))
      return Int32Array.from(full.encode(clean, { add_special_tokens: false }).ids)
    },
    bytes: tokenBytes(tokenizer, added, pieces),
    normalForm: normalFormOf(tokenizer.normalizer),
    encodeGuarded(text: string, guard: string): Int32Array {
      const parts = checkText(text).split(specialPattern)
      const ids = parts.flatMap((part, at): number[] => {
        const id = special.get(part)
        if (id !== undefined) return [id]
        let plainText = part.replaceAll(guard, '')
        if (strips.get(parts[at - 1] ?? '')?.rstrip === true) plainText = plainText.trimStart()
        if (strips.get(parts[at + 1] ?? '')?.lstrip === true) plainText = plainText.trimEnd()
        if (plainText === '') return []
        // After a special token no prefix is put before the text.
        return at === 0 ? plainTokens(plainText) : plainTokens(separator + plainText).slice(1)
      })
      return Int32Array.from(ids)
    },
    decode(tokens: Int32Array): string {
      const known: number[] = []
      for (const token of tokens) {
        if (!(Number.isInteger(token) && token >= 0 && token < vocabSize)) {
          throw new RangeError(`${token} is no token: they go from 0 to ${vocabSize - 1}`)
        }
        if (pieces.has(token)) known.push(token) // rows beyond the vocabulary pad the model's matrices: they write nothing
      }
      return known.length === 0 ? '' : full.decode(known, { clean_up_tokenization_spaces: false })
    },
  })
}

// Stands for "a special token was here". No text that `checkText` returns holds it.
const separator = '\uDFFF\uDFFF'

// Lone surrogates have no UTF-8: they are written as U+FFFD, as by every encoder.
function checkText(text: string): string {
  if (text.length > longestText) {
    throw new EvsysError('DATA_INVALID', `a text of ${text.length} characters is too long to tokenize`, {
      fix: `cut it into parts of at most ${longestText} characters.`,
    })
  }
  return text.replace(/\p{Surrogate}/gu, '\uFFFD')
}

function addedTokens(tokenizer: TokenizerFile, { added_tokens_decoder }: TokenizerConfig): AddedToken[] {
  const known = new Set(tokenizer.added_tokens.map(({ content }) => content))
  const more = Object.entries(added_tokens_decoder ?? {}).map(([id, token]) => ({ ...token, id: Number(id) }))
  const taken = new Set([...Object.values(tokenizer.model.vocab), ...tokenizer.added_tokens.map(({ id }) => id)])
  const free = more.filter(({ id, content }) => !known.has(content) && !taken.has(id) && id < mostTokens)
  return [...tokenizer.added_tokens, ...free]
}

function specialTokens(added: readonly AddedToken[], config: TokenizerConfig): Map<string, number> {
  const { bos_token, eos_token, pad_token, unk_token, additional_special_tokens } = config
  const named = new Set([bos_token, eos_token, pad_token, unk_token, ...(additional_special_tokens ?? [])])
  return new Map(
    added.filter(({ special, content }) => special || named.has(content)).map(({ content, id }) => [content, id]),
  )
}

function piecesOf({ model }: TokenizerFile, added: readonly AddedToken[]): Map<number, string> {
  const pieces = new Map<number, string>()
  for (const [piece, id] of Object.entries(model.vocab)) pieces.set(id, piece)
  for (const { id, content } of added) pieces.set(id, content)
  return pieces
}

function document(tokenizer: TokenizerFile, added_tokens: readonly AddedToken[]): object {
  const { normalizer, pre_tokenizer, decoder, model } = tokenizer
  // No post-processor: what it adds is in no text.
  return {
    normalizer,
    pre_tokenizer: exactPreTokenizer(pre_tokenizer),
    decoder,
    model,
    post_processor: null,
    added_tokens: added_tokens.map((token) => ({ ...token })),
  }
}

function plainDocument(
  tokenizer: TokenizerFile,
  added: readonly AddedToken[],
  special: ReadonlyMap<string, number>,
  separatorId: number,
): object {
  const { model } = tokenizer
  const isPlain = (piece: string) => !special.has(piece) || piece === model.unk_token
  const vocab = Object.fromEntries(Object.entries(model.vocab).filter(([piece]) => isPlain(piece)))
  const merges = model.merges.filter(([left, right]) => isPlain(left + right))
  const separatorToken = { id: separatorId, content: separator, special: true, normalized: false }
  const rest = added.filter(({ content }) => !special.has(content))
  return document({ ...tokenizer, model: { ...model, vocab, merges } }, [
    ...rest,
    { ...separatorToken, single_word: false, lstrip: false, rstrip: false },
  ])
}

/** Matches any of the names, the longest first; as a group, so that `split` keeps them. */
export function anyOf(names: readonly string[]): RegExp {
  const longestFirst = names.toSorted((a, b) => b.length - a.length)
  const escaped = longestFirst.map((name) => name.replace(/[|\\{}()[\]^$+*?.]/g, '\\$&'))
  return new RegExp(names.length === 0 ? '((?!))' : `(${escaped.join('|')})`)
}

// A decoder of byte tokens swallows U+FEFF at the start of each run; it is a character like others.
function keepByteOrderMarks(decoder: unknown): void {
  const { decoders, text_decoder }: Record<string, unknown> = Object(decoder)
  if (Array.isArray(decoders)) for (const each of decoders) keepByteOrderMarks(each)
  if (text_decoder instanceof TextDecoder) {
    Object.assign(Object(decoder), { text_decoder: new TextDecoder('utf-8', { ignoreBOM: true }) })
  }
}

function build<T>(file: ModelFile, make: () => T): T {
  try {
    return make()
  } catch (cause) {
    throw fileFault(file, [], `it cannot be used: ${messageOf(cause)}`)
  }
}

// Matrices are often larger than the vocabulary; a model may then answer with an id that no token has.
const ModelRows = z.looseObject({ vocab_size: z.int().min(1).max(mostTokens) })

async function modelRows(folder: string): Promise<number> {
  const file = await readModelFile(folder, 'config.json', configLimitBytes)
  if (file === undefined) return 0
  try {
    return ModelRows.parse(JSON.parse(file.text)).vocab_size
  } catch {
    return 0 // the engine reports what is wrong with config.json
  }
}

// Parts that the library follows in another way than the reference implementation, written with parts that it follows exactly.
type Config = Record<string, unknown>

/** The same pre-tokenizer, for the library. */
function exactPreTokenizer(config: Config | null): Config | null {
  switch (config?.type) {
    case 'Sequence':
      return { type: 'Sequence', pretokenizers: listOf(config.pretokenizers).map(exactPreTokenizer) }
    case 'Digits': // the library takes 0 to 9 alone
      return split(config.individual_digits === true ? '\\p{N}' : '\\p{N}+')
    case 'Metaspace': {
      if (config.split === false) return config
      // The library leaves the text in one piece; each word begins with the replacement.
      const mark = `\\u{${String(config.replacement).codePointAt(0)?.toString(16)}}`
      const words = { ...split(`${mark}[^${mark}]*|[^${mark}]+`), behavior: 'Removed', invert: true }
      return { type: 'Sequence', pretokenizers: [config, words] }
    }
    default:
      return config
  }
}

function split(Regex: string): Config {
  return { type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false }
}

function listOf(value: unknown): Config[] {
  return Array.isArray(value) ? value : []
}
