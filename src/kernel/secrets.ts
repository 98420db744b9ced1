// Secrets are written as `${secret:NAME}` and resolved where they are used. What is hashed, stored and printed holds the
// reference; the value comes from the environment or the project's `.env`, which is read without changing `process.env`.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { EvsysError, type Problem } from './evsys-error.ts'
import { fileError, systemCode } from './file-error.ts'
import { isPlain } from './hash.ts'

export type SecretSource = {
  get(name: string): string | undefined
  /** For people: where a missing secret can be set. */
  readonly hint: string
}

/** What `readSecretSource` found. */
type FoundSecrets = SecretSource & {
  /** Values whose names say that they are secrets, long enough to be distinguished from ordinary text. */
  readonly known: Readonly<Record<string, string>>
}

/** A reference to a secret: its name, the text as written, and the keys that lead to it. */
export type SecretUse = { name: string; text: string; path: (string | number)[] }

/** Shorter values cannot be distinguished from ordinary text, so they could not be kept out of logs. */
export const shortestSecret = 4

// Wider than what is allowed, so that `${ secret:NAME }` or a missing brace is an error and not sent as a password.
const reference = /\$\{\s*secret\s*[:.]\s*([^}]*)\}?/gi
const namePattern = /^[A-Za-z_][A-Za-z0-9_]*$/
// As deep as what can be hashed.
const deepest = 500

/** Reads secrets from the environment and from `.env` in the project folder; the environment wins. */
export async function readSecretSource({
  projectDir,
  env = process.env,
}: {
  projectDir: string
  env?: Readonly<Record<string, string | undefined>> | undefined
}): Promise<FoundSecrets> {
  const file = join(projectDir, '.env')
  const fromFile = parseEnv(await textOf(file))
  return {
    get: (name) => own(env, name) ?? own(fromFile, name),
    hint: `in the environment or in ${file}`,
    known: secretsIn({ ...fromFile, ...env }),
  }
}

// Names that people give to secrets. Of values: `true` or `8080` may be the value of anything.
const secretName = /KEY|TOKEN|SECRET|PASS(?:WORD|WD|PHRASE)|CREDENTIAL|AUTH/i
const shortestKnown = 8

function secretsIn(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const found = Object.entries(values).flatMap(([name, value]): [string, string][] =>
    value !== undefined && secretName.test(name) && namePattern.test(name) && isLikeSecret(value)
      ? [[name, value]]
      : [],
  )
  return Object.fromEntries(found)
}

// A path names where a secret is, and is none.
function isLikeSecret(value: string): boolean {
  return value.trim().length >= shortestKnown && !/^(?:[./~]|[A-Za-z]:\\)/.test(value)
}

/** All references to secrets in a value, in order. Keys of objects are not looked at; what is shared counts once. */
export function findSecrets(value: unknown): SecretUse[] {
  const found: SecretUse[] = []
  const seen = new Set<object>()
  const visit = (each: unknown, path: (string | number)[]) => {
    if (typeof each === 'string') {
      for (const [text, name = ''] of each.matchAll(reference)) found.push({ name: name.trim(), text, path })
    } else if (typeof each === 'object' && each !== null && !seen.has(each)) {
      if (path.length > deepest) throw new EvsysError('DATA_INVALID', `a value is nested deeper than ${deepest} levels`)
      seen.add(each)
      for (const [key, field] of entriesOf(each)) visit(field, [...path, key])
    }
  }
  visit(value, [])
  return found
}

/** A copy of `value` with every reference replaced by its secret. All that are missing are reported at once. */
export function resolveSecrets<T>(value: T, source: SecretSource): T {
  const values = new Map<string, string>()
  const problems = new Map<string, Problem>()
  for (const use of findSecrets(value)) {
    if (values.has(use.text) || problems.has(use.text)) continue
    const secret = isWellFormed(use) ? source.get(use.name) : undefined
    const problem = problemWith(use, secret, source)
    if (problem === undefined && secret !== undefined) values.set(use.text, secret)
    else if (problem !== undefined) problems.set(use.text, problem)
  }
  if (problems.size > 0) throw EvsysError.many([...problems.values()])
  return replaced(value, values, new Map()) as T // the same shape: only text inside text changes
}

function isWellFormed({ name, text }: SecretUse): boolean {
  return namePattern.test(name) && text === `\${secret:${name}}`
}

function problemWith(use: SecretUse, secret: string | undefined, source: SecretSource): Problem | undefined {
  const { name, path } = use
  const place = path.length === 0 ? '' : `${path.join('.')}: `
  const problem = (message: string, fix: string): Problem => ({
    code: 'SECRET_MISSING',
    message: `${place}${message}`,
    fix,
  })
  if (!isWellFormed(use)) {
    const written = use.text.length > 60 ? `${use.text.slice(0, 60)}...` : use.text
    return problem(
      `"${written}" is not a reference to a secret`,
      'write ${secret:NAME}, where NAME has letters, digits and _.',
    )
  }
  const set = `set ${name} ${source.hint}, as ${name}=value.`
  if (secret === undefined) return problem(`the secret ${name} is not set`, set)
  if (secret.trim() === '') return problem(`the secret ${name} is empty`, set)
  if (secret.trim().length >= shortestSecret) return undefined
  return problem(
    `the secret ${name} has fewer than ${shortestSecret} characters, too few to be kept out of logs`,
    'use a longer one, or write the value itself if it is no secret.',
  )
}

function replaced(value: unknown, values: ReadonlyMap<string, string>, done: Map<object, object>): unknown {
  // A function as the replacement: `$&` inside a secret has no meaning.
  if (typeof value === 'string') return value.replace(reference, (text) => values.get(text) ?? text)
  if (typeof value !== 'object' || value === null) return value
  const before = done.get(value)
  if (before !== undefined) return before
  if (!Array.isArray(value) && !isPlain(value)) return value
  const copy: object = Array.isArray(value) ? [] : Object.create(Object.getPrototypeOf(value))
  done.set(value, copy) // before its fields: a value may contain itself
  for (const [key, field] of entriesOf(value)) {
    // defineProperty, as a key may be __proto__
    const own = { value: replaced(field, values, done), enumerable: true, configurable: true, writable: true }
    Object.defineProperty(copy, key, own)
  }
  return copy
}

function entriesOf(value: object): [string | number, unknown][] {
  if (Array.isArray(value)) return [...value.entries()]
  return isPlain(value) ? Object.entries(value) : []
}

function own(values: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined
}

async function textOf(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).replace(/^\uFEFF/, '')
  } catch (cause) {
    const code = systemCode(cause)
    if (code === 'ENOENT' || code === 'EISDIR' || code === 'ENOTDIR') return '' // a folder .env is a Python environment
    throw fileError('read', file, cause)
  }
}
