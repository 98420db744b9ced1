// Content hashes. Equal meaning must give equal bytes, so values are written as canonical JSON (RFC 8785) before hashing.
import { createHash } from 'node:crypto'
import type { Sha256 } from '../contracts/index.ts'
import { EvsysError } from './evsys-error.ts'

// Far deeper than anything a person writes, far from the end of the stack.
const deepest = 500

export function sha256(data: string | Uint8Array): Sha256 {
  return createHash('sha256').update(data).digest('hex')
}

/** The SHA-256 of a JSON value: key order, `-0` and keys with `undefined` do not change it. */
export function hashOf(value: unknown): Sha256 {
  return sha256(canonicalJson(value))
}

/**
 * The one JSON text of a value: keys sorted by UTF-16 units, no spaces, `-0` written as `0`. A key that holds `undefined` is
 * absent. Whatever JSON cannot carry (NaN, Infinity, bigint, functions, dates, maps, cycles, holes) is an error with its path.
 */
export function canonicalJson(value: unknown): string {
  return write(value, [])
}

type Step = { holder: object; key: string | number }

function write(value: unknown, steps: Step[]): string {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value)
    case 'number':
      if (!Number.isFinite(value)) throw notJson(`${value}`, steps)
      return JSON.stringify(value) // ECMAScript's shortest form is RFC 8785's, and -0 is 0
    case 'object':
      if (value === null) return 'null'
      if (steps.length >= deepest) throw notJson(`a value nested deeper than ${deepest} levels`, steps.slice(0, 4))
      if (steps.some((step) => step.holder === value)) throw notJson('a value that contains itself', steps)
      return Array.isArray(value) ? writeArray(value, steps) : writeObject(value, steps)
    default:
      throw notJson(value === undefined ? 'undefined' : `a ${typeof value}`, steps)
  }
}

function writeArray(value: readonly unknown[], steps: Step[]): string {
  let text = '['
  for (let key = 0; key < value.length; key++) text += `${key === 0 ? '' : ','}${within(value, key, value[key], steps)}`
  return `${text}]`
}

function writeObject(value: object, steps: Step[]): string {
  if (!isPlain(value)) throw notJson(`an object of class ${className(value)}`, steps)
  let text = ''
  for (const key of Object.keys(value).sort()) {
    const field: unknown = Reflect.get(value, key)
    if (field === undefined) continue
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${within(value, key, field, steps)}`
  }
  return `{${text}}`
}

function within(holder: object, key: string | number, value: unknown, steps: Step[]): string {
  if (typeof value === 'string') return JSON.stringify(value) // most values of most rows, and nothing can be wrong with it
  steps.push({ holder, key })
  const text = write(value, steps)
  steps.pop()
  return text
}

/** Whether an object has no class. Plain also when made in another realm, whose Object.prototype is not ours. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function className(value: object): string {
  const maker: unknown = Reflect.get(value, 'constructor')
  return typeof maker === 'function' && maker.name !== '' ? maker.name : 'unknown'
}

function notJson(what: string, steps: readonly Step[]): EvsysError {
  const place = steps.map(({ key }) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')
  return new EvsysError('DATA_INVALID', `${what} is not JSON, at $${place}`, {
    fix: 'use only text, finite numbers, true, false, null, lists and plain objects.',
  })
}

/** Whether a value is a mapping, as YAML and JSON have it: an object that is no list. */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Keys that may hold `undefined` become optional; the others stay as they are. */
export type WithoutUndefined<T extends object> = T extends unknown
  ? Flat<
      { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
        [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
      }
    >
  : never

type Flat<T> = { [K in keyof T]: T[K] }

/**
 * A copy without the keys that hold `undefined`, in the same order: for objects that are stored, hashed or compared. Not
 * recursive. What `JSON.stringify` writes does not need it.
 */
export function withoutUndefined<T extends object>(value: T): WithoutUndefined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as WithoutUndefined<T>
}
