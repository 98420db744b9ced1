// What a token stands for, by itself. Decoders read whole sequences; to find the place of a token in a text, its bytes are
// enough.
import type { AddedToken, TokenizerFile } from './tokenizer-file.ts'

export type NormalForm = 'NFC' | 'NFD' | 'NFKC' | 'NFKD'

/** The bytes of each token, by the tokenizer's decoder. */
export function tokenBytes(
  { decoder, model }: TokenizerFile,
  added: readonly AddedToken[],
  pieces: ReadonlyMap<number, string>,
): (token: number) => Uint8Array | undefined {
  const isAdded = new Set(added.map(({ id }) => id))
  const types = typesOf(decoder, 'decoders')
  const bytesOf = types.includes('ByteLevel')
    ? byteLevel
    : types.includes('ByteFallback')
      ? spaced(true)
      : spaced(false)
  return (token) => {
    const piece = pieces.get(token)
    if (piece === undefined) return undefined
    if (isAdded.has(token)) return Buffer.from(piece)
    if (model.end_of_word_suffix) return undefined
    return bytesOf(piece)
  }
}

/** The Unicode form that a normalizer brings text into. */
export function normalFormOf(normalizer: unknown): NormalForm | undefined {
  const forms: readonly string[] = ['NFC', 'NFD', 'NFKC', 'NFKD']
  return typesOf(normalizer, 'normalizers').find((type): type is NormalForm => forms.includes(type))
}

function typesOf(part: unknown, list: string): string[] {
  const config: Record<string, unknown> = Object(part)
  const inner = config[list]
  return [String(config.type), ...(Array.isArray(inner) ? inner.flatMap((each) => typesOf(each, list)) : [])]
}

const byteOf = new Map(byteCharacters().map((character, byte) => [character, byte]))

function byteLevel(piece: string): Uint8Array | undefined {
  const bytes: number[] = []
  for (const character of piece) {
    const byte = byteOf.get(character)
    if (byte === undefined) return undefined
    bytes.push(byte)
  }
  return Uint8Array.from(bytes)
}

function spaced(hasByteTokens: boolean): (piece: string) => Uint8Array {
  return (piece) => {
    const hex = hasByteTokens ? /^<0x([0-9A-F]{2})>$/.exec(piece)?.[1] : undefined
    return hex === undefined ? Buffer.from(piece.replaceAll('▁', ' ')) : Uint8Array.of(Number.parseInt(hex, 16))
  }
}

/** GPT-2's way to write bytes as visible characters: those that are visible in Latin-1 stand for themselves. */
export function byteCharacters(): string[] {
  let next = 256
  return Array.from({ length: 256 }, (_, byte) => {
    const isVisible = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173)
    return String.fromCharCode(isVisible ? byte : next++)
  })
}
