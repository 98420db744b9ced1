// Removes secrets from what is emitted: their values, in the forms they take inside other text, and whatever looks like a key
// of a well-known service. It errs on the side of removing: what it cannot read does not pass.
import { EvsysError } from './evsys-error.ts'
import { shortestSecret } from './secrets.ts'

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
    fix: 'use a longer one: shorter values cannot be distinguished from ordinary text.',
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

// Keys of well-known services, known by their shape: for secrets that were not declared. Every repetition is bounded or runs
// over characters that cannot start another match, so the time stays linear in the text.
const shapes: readonly [RegExp, string][] = [
  [
    /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:[A-Za-z0-9+/=\s:,.]|-(?!-)|\\[nr])*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g,
    '[secret]',
  ],
  [/\b(Bearer\s{1,5})[\w.~+/-]{16,4000}={0,2}/gi, '$1[secret]'],
  [/\b(authorization["']{0,2}\s{0,3}[:=]\s{0,3}["']{0,2}(?:\w{1,20}\s{1,3})?)[\w.~+/=-]{8,4000}/gi, '$1[secret]'],
  [/(:\/\/[^\s/:@]{0,100}:)[^\s/@]{1,200}@/g, '$1[secret]@'],
  // OpenAI, Anthropic, Stripe and many who follow them
  [/\bsk-(?=[\w-]{0,60}\d)[\w-]{20,300}/g, '[secret]'],
  [/\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,300}/g, '[secret]'],
  // Hugging Face, Tinker, Fireworks, RunPod: letters and digits only, unlike names in code
  [/\b(?:hf_|tml-|fw_|rpa_)(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{20,300}/g, '[secret]'],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, '[secret]'],
  [/\bAIza[\w-]{35}/g, '[secret]'],
  [/\bgh[pousr]_[A-Za-z0-9]{36,255}/g, '[secret]'],
  [/\bgithub_pat_\w{22,255}/g, '[secret]'],
  [/\bxox[abposr]-[\w-]{10,250}/g, '[secret]'],
  // JSON Web Token
  [/\beyJ[\w-]{10,500}\.eyJ[\w-]{10,4000}\.[\w-]{10,1000}/g, '[secret]'],
]

/** Replaces what looks like a key, a token or a password in a URL by `[secret]`. */
export function maskKeys(text: string): string {
  let masked = text
  for (const [shape, mask] of shapes) masked = masked.replace(shape, mask)
  return masked
}

// How a secret shows up in what programs write: inside JSON, URLs, headers, dumps.
/** The texts that give a secret away. None is shorter than `shortest`, which would match by chance. */
function secretForms(value: string, shortest: number): Set<string> {
  const forms = new Set<string>()
  // A value read from a file ends in a newline that is never sent; a key of several lines is logged line by line.
  const lines = value.split(/\r?\n/).map((line) => line.trim())
  for (const text of [value, value.trim(), ...lines.filter((line) => line.length >= 16)]) {
    for (const form of formsOf(text)) if (form.length >= shortest) forms.add(form)
  }
  return forms
}

function formsOf(text: string): string[] {
  const bytes = Buffer.from(text)
  const json = inJson(text)
  const uri = encodeURIComponent(bytes.toString()) // through bytes: a lone surrogate has no URI form
  const form = new URLSearchParams([['', text]]).toString().slice(1)
  const hex = bytes.toString('hex')
  const misread = bytes.toString('latin1')
  const written = [text, json, inJson(json), uri, form, lowerCaseEscapes(uri), misread]
  return [...written, hex, hex.toUpperCase(), ...base64Forms(bytes)]
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function lowerCaseEscapes(uri: string): string {
  return uri.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())
}

// In a longer text, such as `user:password`, the value may begin at any of three places within a group of four characters. Of
// those forms only the middle is the same whatever stands around; below 8 characters it would match by chance.
function base64Forms(bytes: Buffer): string[] {
  const whole = bytes.toString('base64')
  const forms = [whole, whole.replace(/=+$/, '')]
  for (const before of [0, 1, 2]) {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    const start = Math.ceil((before * 8) / 6)
    const end = Math.floor(((before + bytes.length) * 8) / 6)
    if (end - start >= 8) forms.push(text.slice(start, end))
  }
  return [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))]
}
