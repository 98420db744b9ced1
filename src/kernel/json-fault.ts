// Where a text stops being JSON. JSON.parse says so in words that differ between versions of Node, often without a position;
// this scanner runs only after it has failed, or to find where the elements of a list begin.
import type { Location } from '../contracts/index.ts'
import { withoutUndefined } from './hash.ts'

export interface JsonFault {
  /** Index of the first character that cannot stand there. */
  readonly at: number
  readonly reason: string
}

type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or end'

/**
 * The first fault of a JSON text, or undefined if it has none. `onElement` is called where each element of an outermost list
 * begins. Nesting costs memory, never stack.
 */
export function jsonFault(text: string, onElement?: (at: number) => void): JsonFault | undefined {
  const open: ('[' | '{')[] = []
  let expected: Expected = 'value'
  let at = skipSpace(text, 0)
  while (at < text.length) {
    const char = text[at]
    const inside = open.at(-1)
    if (inside === undefined && expected === ', or end') return { at, reason: 'there is more text after the value' }
    if (expected === 'value' || (expected === 'value or ]' && char !== ']')) {
      if (open.length === 1 && inside === '[') onElement?.(at)
      if (char === '[' || char === '{') {
        open.push(char)
        expected = char === '[' ? 'value or ]' : 'key or }'
        at = skipSpace(text, at + 1)
        continue
      }
      const end = char === '"' ? stringEnd(text, at) : plainEnd(text, at)
      if (typeof end !== 'number') return end
      at = skipSpace(text, end)
      expected = ', or end'
    } else if (expected === ':') {
      if (char !== ':') return { at, reason: `expected : after a key, got ${shown(char)}` }
      expected = 'value'
      at = skipSpace(text, at + 1)
    } else if (char === '"' && (expected === 'key' || expected === 'key or }')) {
      const end = stringEnd(text, at)
      if (typeof end !== 'number') return end
      expected = ':'
      at = skipSpace(text, end)
    } else if (char === ',' && expected === ', or end') {
      expected = inside === '{' ? 'key' : 'value'
      at = skipSpace(text, at + 1)
    } else if (closes(char, inside, expected)) {
      open.pop()
      expected = ', or end'
      at = skipSpace(text, at + 1)
    } else {
      return { at, reason: `expected ${expectation(expected, inside)}, got ${shown(char)}` }
    }
  }
  if (expected === ', or end' && open.length === 0) return undefined
  return { at: text.length, reason: `it ends where ${expectation(expected, open.at(-1))} should follow` }
}

function closes(char: string | undefined, inside: '[' | '{' | undefined, expected: Expected): boolean {
  if (char === ']') return inside === '[' && (expected === ', or end' || expected === 'value or ]')
  if (char === '}') return inside === '{' && (expected === ', or end' || expected === 'key or }')
  return false
}

function expectation(expected: Expected, inside: '[' | '{' | undefined): string {
  if (expected === ', or end') return inside === '{' ? ', or }' : ', or ]'
  if (expected === 'key') return 'a key in double quotes'
  if (expected === 'key or }') return 'a key in double quotes or }'
  return expected === ':' ? ':' : `a ${expected}`
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return at
}

const plain = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

function plainEnd(text: string, at: number): number | JsonFault {
  plain.lastIndex = at
  if (plain.test(text)) return plain.lastIndex
  return { at, reason: `expected a value, got ${shown(text[at])}` }
}

function stringEnd(text: string, start: number): number | JsonFault {
  for (let at = start + 1; at < text.length; at++) {
    const char = text[at]
    if (char === '"') return at + 1
    if (text.charCodeAt(at) < 0x20) return { at, reason: `${shown(char)} must be escaped inside a text` }
    if (char !== '\\') continue
    const escaped = /^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.exec(text.slice(at + 1, at + 6))?.[0]
    if (escaped === undefined) return { at, reason: 'a backslash is followed by no known escape' }
    at += escaped.length
  }
  return { at: text.length, reason: 'a text is not closed by a quote' }
}

function shown(char: string | undefined): string {
  return JSON.stringify(char ?? '')
}

// Where a value stands in a JSON text that is known to be valid: errors in a file point at it.
/** The place of the value at `path`; of a value that is not there, the place of its nearest parent. */
export function jsonPlace(text: string, path: readonly (string | number)[], file: string): Location {
  let at = skipSpace(text, 0)
  for (const step of path) {
    const next = valueAt(text, at, step)
    if (next === undefined) break
    at = next
  }
  return withoutUndefined({ file, ...placeOf(text, at), path: path.length === 0 ? undefined : path.join('.') })
}

/** Line and column of an index of a text, counted from 1. */
export function placeOf(text: string, at: number): { line: number; col: number } {
  let line = 1
  let start = 0
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', end + 1)) {
    line++
    start = end + 1
  }
  return { line, col: at - start + 1 }
}

function valueAt(text: string, at: number, step: string | number): number | undefined {
  const isList = text[at] === '['
  if (!isList && text[at] !== '{') return undefined
  let found: number | undefined
  let index = 0
  let next = skipSpace(text, at + 1)
  while (next < text.length && text[next] !== ']' && text[next] !== '}') {
    let key: string | number = index
    if (!isList) {
      const end = textEnd(text, next)
      key = String(JSON.parse(text.slice(next, end)))
      next = skipSpace(text, skipSpace(text, end) + 1)
    }
    if (key === step) {
      if (isList) return next
      found = next // of a key that is written twice the last one counts
    }
    next = skipSpace(text, valueEnd(text, next))
    if (text[next] === ',') next = skipSpace(text, next + 1)
    index++
  }
  return found
}

function valueEnd(text: string, start: number): number {
  let depth = 0
  let at = start
  do {
    const char = text[at]
    if (char === '"') at = textEnd(text, at)
    else {
      if (char === '[' || char === '{') depth++
      if (char === ']' || char === '}') depth--
      at++
    }
  } while (at < text.length && (depth > 0 || !/[\s,\]}]/.test(text[at] ?? '')))
  return at
}

function textEnd(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}
