// Where the values of a JSON text stand, and whether an object names a key twice: two things that JSON.parse does not tell. The
// text must be one that JSON.parse accepts.
import { readFile, stat } from 'node:fs/promises'
import type { Location } from '../../contracts/index.ts'
import { EvsysError, fileError } from '../../kernel/index.ts'

interface JsonPlaces {
  /** Offset of the value at a path, of at most `deepest` keys joined by dots. */
  readonly places: ReadonlyMap<string, number>
  /** The first key that its object names a second time. */
  readonly duplicate: { readonly key: string; readonly offset: number } | undefined
}

/** Deeper values are not looked up; it keeps the paths of a text of nothing but brackets short. */
const deepest = 3

/** Reads the text once, from left to right. */
export function jsonPlaces(text: string): JsonPlaces {
  const places = new Map<string, number>()
  const open: { keys: Set<string> | undefined; key: string; count: number }[] = []
  let duplicate: JsonPlaces['duplicate']
  let isKey = false
  const place = (offset: number) => {
    if (open.length > deepest) return
    const path = open.map(({ keys, key, count }) => (keys === undefined ? String(count) : key)).join('.')
    places.set(path, offset)
  }
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? ''
    const inner = open.at(-1)
    if (character === '{' || character === '[') {
      place(at)
      isKey = character === '{'
      open.push({ keys: isKey ? new Set() : undefined, key: '', count: 0 })
    } else if (character === '}' || character === ']') {
      open.pop()
      isKey = false
    } else if (character === ',') {
      if (inner !== undefined) inner.count++
      isKey = inner?.keys !== undefined
    } else if (character === ':') {
      isKey = false
    } else if (character === '"') {
      const end = endOfString(text, at)
      if (isKey && inner?.keys !== undefined) {
        inner.key = unquoted(text.slice(at, end))
        if (inner.keys.has(inner.key)) duplicate ??= { key: inner.key, offset: at }
        inner.keys.add(inner.key)
      } else place(at)
      at = end - 1
    } else if (!' \t\n\r'.includes(character)) {
      place(at)
      while (at + 1 < text.length && !' \t\n\r,]}'.includes(text[at + 1] ?? '')) at++
    }
  }
  return { places, duplicate }
}

/** Line and column of an offset, both from 1. */
export function lineAndColumn(text: string, offset: number): { line: number; col: number } {
  const before = text.slice(0, offset)
  return { line: before.split('\n').length, col: offset - before.lastIndexOf('\n') }
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  return text.length
}

function unquoted(literal: string): string {
  const value: unknown = JSON.parse(literal)
  return String(value)
}

/** The index of a model of a thousand layers has a tenth of it. */
const largest = 10_000_000

/** The text of a model's small file. A pipe would be waited for without end: it is refused. */
export async function readText(path: string): Promise<string> {
  const sizeBytes = await regularSize(path)
  if (sizeBytes > largest) throw invalidModel(path, `has ${sizeBytes} bytes, which no such file needs`)
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw fileError('read', path, cause)
  })
}

async function regularSize(path: string): Promise<number> {
  try {
    const found = await stat(path)
    if (!found.isFile()) throw Object.assign(new Error(), { code: 'ENXIO' })
    return found.size
  } catch (cause) {
    throw fileError('read', path, cause)
  }
}

// A file of a model that cannot be used as it stands.
const again = 'download or export the model again.'

/** The error for a model's file: what is wrong with which file, and at which place of it. */
export function invalidModel(
  file: string,
  message: string,
  { where, fix = again }: { where?: Location | undefined; fix?: string | undefined } = {},
): EvsysError {
  return new EvsysError('MODEL_INVALID', `${file}: ${message}`, { fix, where })
}
