// The JSON object in an answer, whatever is written around it: prose, code fences, half-finished attempts.
import { nestedDeeperThan } from '../../data/index.ts'

// An answer full of braces must not cost quadratic time: so much of it is read, and so many beginnings are tried.
const longestRead = 100_000
const mostAttempts = 50
const deepest = 50

/** The first `{...}` in a text that is a JSON object, or undefined. Never throws. */
export function firstJsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  const read = text.slice(0, longestRead)
  let start = read.indexOf('{')
  for (let attempt = 0; start !== -1 && attempt < mostAttempts; attempt++) {
    const end = objectEnd(read, start)
    const value = end === undefined ? undefined : parsed(read.slice(start, end))
    if (value !== undefined) return value
    start = read.indexOf('{', start + 1)
  }
  return undefined
}

// Braces inside texts do not count.
function objectEnd(text: string, start: number): number | undefined {
  let depth = 0
  let inText = false
  for (let at = start; at < text.length; at++) {
    const char = text[at]
    if (inText) {
      if (char === '\\') at++
      else if (char === '"') inText = false
    } else if (char === '"') inText = true
    else if (char === '{') depth++
    else if (char === '}' && --depth === 0) return at + 1
  }
  return undefined
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject && !nestedDeeperThan(value, deepest) ? { ...value } : undefined
  } catch {
    return undefined
  }
}
