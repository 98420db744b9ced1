// Where the values of a JSON text stand, and whether an object names a key twice: two things that JSON.parse does not tell. The
// text must be one that JSON.parse accepts.

export interface JsonPlaces {
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
