// The JSON value that an answer gives: the whole of it, what stands in its last code fence, or the first object in it; and the
// verifier of a call that is such an object.
import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { nestedDeeperThan } from '../../data/index.ts'
import { defineVerifier, EvsysError, isMapping } from '../../kernel/index.ts'

// The JSON object in an answer, whatever is written around it: prose, code fences, half-finished attempts.
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
    const value = end === undefined ? undefined : parsedObject(read.slice(start, end))
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

function parsedObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isMapping(value) && !nestedDeeperThan(value, deepest) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

const longestValue = 1_000_000

/** The value, or undefined where the answer holds none. Never throws. */
export function firstJsonValue(output: string): { readonly value: unknown } | undefined {
  const text = output.slice(0, longestValue).trim()
  const fenced = lastFence(text)
  return parsedValue(text) ?? (fenced === undefined ? undefined : parsedValue(fenced)) ?? objectIn(text)
}

function lastFence(text: string): string | undefined {
  const close = text.lastIndexOf('```')
  const open = close < 3 ? -1 : text.lastIndexOf('```', close - 1)
  if (open === -1) return undefined
  const inside = text.slice(open + 3, close)
  const start = inside.indexOf('\n')
  return start === -1 ? undefined : inside.slice(start + 1)
}

function parsedValue(text: string): { readonly value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return nestedDeeperThan(value, deepest) ? undefined : { value }
  } catch {
    return undefined
  }
}

function objectIn(text: string): { readonly value: unknown } | undefined {
  const value = firstJsonObject(text)
  return value === undefined ? undefined : { value }
}

/** Whether two values of JSON are the same: keys in any order, and -0 is 0. */
export function equalJson(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(one, other) || isDeepStrictEqual(withPlainZeros(one), withPlainZeros(other))
}

function withPlainZeros(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value)) // -0 is written as 0
}

export const toolCallsMatch = defineVerifier({
  kind: 'tool_calls_match',
  summary:
    'Reward 1 if the answer’s JSON object makes the expected call: same tool, action, ref and text, near coordinate.',
  params: z.strictObject({
    coordinate_tolerance: z.number().min(0).default(25).describe('How far a coordinate may be off, on each axis.'),
  }),
  verify({ output, expected }, { params }) {
    const wanted = expectedCall(expected)
    const call = firstJsonObject(output)
    if (call === undefined) return { reward: 0, info: { reason: 'the answer holds no JSON object' } }
    const wrong = firstDifference(call, wanted, params.coordinate_tolerance)
    return wrong === undefined ? 1 : { reward: 0, info: { reason: `${wrong} differs` } }
  },
})

type Call = Readonly<Record<string, unknown>>

function expectedCall(expected: unknown): Call {
  if (isMapping(expected)) return { ...expected }
  const call = typeof expected === 'string' ? firstJsonObject(expected) : undefined
  if (call !== undefined) return call
  throw new EvsysError('DATA_INVALID', 'tool_calls_match: the task expects no JSON object', {
    fix: 'give the task’s verifier an `expected` object: { "tool": "browser", "action": "click", "ref": "e12" }.',
  })
}

// tool and action must agree even where the expected call has none; the others count only where it has them.
function firstDifference(call: Call, wanted: Call, tolerance: number): string | undefined {
  for (const key of ['tool', 'action']) if (!equalJson(call[key], wanted[key])) return key
  for (const key of ['ref', 'text']) {
    if (wanted[key] !== undefined && !equalJson(call[key], wanted[key])) return key
  }
  const isNear = wanted.coordinate === undefined || near(call.coordinate, wanted.coordinate, tolerance)
  return isNear ? undefined : 'coordinate'
}

function near(got: unknown, wanted: unknown, tolerance: number): boolean {
  if (!isPoint(got) || !isPoint(wanted)) return false
  return Math.abs(got[0] - wanted[0]) <= tolerance && Math.abs(got[1] - wanted[1]) <= tolerance
}

function isPoint(value: unknown): value is [number, number] {
  return Array.isArray(value) && value.length === 2 && value.every((axis) => typeof axis === 'number')
}
