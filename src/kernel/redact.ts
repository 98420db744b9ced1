// Removes secrets from what is emitted: their values, in the forms they take inside other text, and whatever looks like a key
// of a well-known service. It errs on the side of removing: what it cannot read does not pass.
import { EvsysError } from './evsys-error.ts'
import { maskKeys } from './mask-keys.ts'
import { secretForms } from './secret-forms.ts'
import { shortestSecret } from './secrets.ts'

/** Returns a copy of a value without secrets. */
export type Redact = <T>(value: T) => T

// Deeper than any event, far from the end of the stack.
const deepest = 200

/** Makes a redactor for secrets by name. Each occurrence becomes `[secret:NAME]`, a key without a name `[secret]`. */
export function createRedactor(secrets: Readonly<Record<string, string>> = {}): Redact {
  const clean = textCleaner(secrets)
  return <T>(value: T) => copyOf(value, clean, new Map(), 0) as T // the same shape: only text inside text changes
}

type Clean = (text: string) => string

function textCleaner(secrets: Readonly<Record<string, string>>): Clean {
  const nameOf = new Map<string, string>()
  for (const [name, value] of Object.entries(secrets)) {
    if (value.trim().length < shortestSecret) throw tooShort(name)
    for (const form of secretForms(value, shortestSecret)) if (!nameOf.has(form)) nameOf.set(form, name)
  }
  if (nameOf.size === 0) return maskKeys
  // Marks first, so that a secret whose value is "secret" leaves the marks of others alone; then the longest form, so that
  // none is cut by a shorter one inside it.
  const marks = Object.keys(secrets).map(markOf)
  const forms = [...nameOf.keys()].sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
  const known = new RegExp([...marks, ...forms].map(escaped).join('|'), 'g')
  const replaceKnown = (found: string) => {
    const name = nameOf.get(found)
    return name === undefined ? found : markOf(name)
  }
  return (text) => maskKeys(text.replace(known, replaceKnown))
}

function markOf(name: string): string {
  return `[secret:${name}]`
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

function tooShort(name: string): EvsysError {
  return new EvsysError('SECRET_MISSING', `the secret ${name} has fewer than ${shortestSecret} characters`, {
    fix: 'use a longer one: shorter values cannot be told from ordinary text.',
  })
}

function copyOf(value: unknown, clean: Clean, done: Map<object, unknown>, depth: number): unknown {
  if (typeof value === 'string') return clean(value)
  if (typeof value !== 'object' || value === null) return value
  if (done.has(value)) return done.get(value)
  if (depth >= deepest) return '[not shown: nested too deeply to be searched for secrets]'
  try {
    return objectCopy(value, clean, done, (inner) => copyOf(inner, clean, done, depth + 1))
  } catch {
    return '[not shown: cannot be searched for secrets]' // a getter or a proxy that throws
  }
}

// A copy is remembered before it is filled: a value may contain itself.
function objectCopy(
  value: object,
  clean: Clean,
  done: Map<object, unknown>,
  inner: (value: unknown) => unknown,
): unknown {
  const remember = <C>(copy: C): C => {
    done.set(value, copy)
    return copy
  }
  if (Array.isArray(value)) {
    const copy = remember<unknown[]>([])
    for (const each of value) copy.push(inner(each))
    return copy
  }
  if (value instanceof Map) {
    const copy = remember(new Map())
    for (const [key, each] of value) copy.set(inner(key), inner(each))
    return copy
  }
  if (value instanceof Set) {
    const copy = remember(new Set())
    for (const each of value) copy.add(inner(each))
    return copy
  }
  if (value instanceof Uint8Array) return bytesCopy(value, clean)
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof Date) return value
  // What it would be in JSON: a URL, say, keeps its text where no property shows it.
  const toJson: unknown = Reflect.get(value, 'toJSON')
  if (typeof toJson === 'function') return remember(inner(toJson.call(value)))
  const copy = remember<object>(Object.create(Object.getPrototypeOf(value)))
  for (const key of Reflect.ownKeys(value)) {
    const enumerable = Object.getOwnPropertyDescriptor(value, key)?.enumerable ?? false
    const field = { value: inner(Reflect.get(value, key)), enumerable, configurable: true, writable: true }
    Object.defineProperty(copy, typeof key === 'string' ? clean(key) : key, field)
  }
  return copy
}

// One character per byte: the text of any bytes, and back.
function bytesCopy(bytes: Uint8Array, clean: Clean): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  return new Uint8Array(Buffer.from(clean(text), 'latin1'))
}
