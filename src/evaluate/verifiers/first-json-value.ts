// The JSON value that an answer gives: the whole of it, what stands in its last code fence, or the first object in it.
import { nestedDeeperThan } from '../../data/index.ts'
import { firstJsonObject } from './first-json-object.ts'

const longestRead = 1_000_000
const deepest = 50

/** The value, or undefined where the answer holds none. Never throws. */
export function firstJsonValue(output: string): { readonly value: unknown } | undefined {
  const text = output.slice(0, longestRead).trim()
  const fenced = lastFence(text)
  return parsed(text) ?? (fenced === undefined ? undefined : parsed(fenced)) ?? objectIn(text)
}

function lastFence(text: string): string | undefined {
  const close = text.lastIndexOf('```')
  const open = close < 3 ? -1 : text.lastIndexOf('```', close - 1)
  if (open === -1) return undefined
  const inside = text.slice(open + 3, close)
  const start = inside.indexOf('\n')
  return start === -1 ? undefined : inside.slice(start + 1)
}

function parsed(text: string): { readonly value: unknown } | undefined {
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
