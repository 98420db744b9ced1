// Where a value stands in a JSON text that is known to be valid: errors in a file point at it.
import type { Location } from '../contracts/index.ts'

/** The place of the value at `path`; of a value that is not there, the place of its nearest parent. */
export function jsonPlace(text: string, path: readonly (string | number)[], file: string): Location {
  let at = skipSpace(text, 0)
  for (const step of path) {
    const next = valueAt(text, at, step)
    if (next === undefined) break
    at = next
  }
  const place = placeOf(text, at)
  return { file, ...place, ...(path.length === 0 ? {} : { path: path.join('.') }) }
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
      const end = stringEnd(text, next)
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
    if (char === '"') at = stringEnd(text, at)
    else {
      if (char === '[' || char === '{') depth++
      if (char === ']' || char === '}') depth--
      at++
    }
  } while (at < text.length && (depth > 0 || !/[\s,\]}]/.test(text[at] ?? '')))
  return at
}

function stringEnd(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return at
}
