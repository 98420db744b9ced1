// What a schema found wrong, in plain words: `expected a whole number, got "abc"`. Words that a schema's author wrote win over
// ours. It knows values and their paths, not files: who has the text turns a path into a place.
import type * as z from 'zod'
import { withoutUndefined } from './hash.ts'

export type ValueIssue = {
  /** From the checked value down to the wrong part; of an unknown key, to the mapping that holds it. */
  path: (string | number)[]
  code: 'unknown_key' | 'invalid'
  message: string
  keys?: string[] | undefined
  /** What would have been right: the keys of the mapping, or the allowed values. */
  known?: string[] | undefined
}

export type Checked<T> = { ok: true; value: T } | { ok: false; issues: ValueIssue[] }

/** Checks `value` against `schema`: the parsed value with its defaults, or everything that is wrong with it. */
export function checkValue<S extends z.ZodType>(schema: S, value: unknown): Checked<z.output<S>> {
  const knownKeys: KnownKeys = new WeakMap()
  const error = (issue: z.core.$ZodRawIssue) => {
    if (issue.code === 'unrecognized_keys') knownKeys.set(issue.keys, keysOf(issue.inst))
    // Zod calls the type of z.int() a number until the value is one.
    if (issue.code === 'invalid_type' && isWhole(issue.inst)) Object.assign(issue, { expected: 'int' })
    return words(issue)
  }
  const result = schema.safeParse(value, { error, reportInput: true })
  if (result.success) return { ok: true, value: result.data }
  return { ok: false, issues: result.error.issues.flatMap((issue) => formatIssue(issue, [], knownKeys)) }
}

/** A zod issue as ours. A union that nothing fitted becomes what was wrong with its most likely member. */
export function formatZodIssue(issue: z.core.$ZodIssue): ValueIssue[] {
  return formatIssue(issue, [], new WeakMap())
}

// Zod drops the schema from a finished issue, but keeps the array of unknown keys: it leads back to the known ones.
type KnownKeys = WeakMap<string[], string[]>

function isWhole(schema: unknown): boolean {
  const def = defOf(schema)
  const checks = at(def, 'checks')
  const parts = [def, ...(Array.isArray(checks) ? checks.map(defOf) : [])] // z.int(), and z.number().int()
  return parts.some((part) => /int/.test(String(at(part, 'format'))))
}

function defOf(schema: unknown): unknown {
  return at(at(schema, '_zod'), 'def')
}

function keysOf(schema: unknown): string[] {
  const shape = at(defOf(schema), 'shape')
  return typeof shape === 'object' && shape !== null ? Object.keys(shape) : []
}

function formatIssue(issue: z.core.$ZodIssue, base: ValueIssue['path'], knownKeys: KnownKeys): ValueIssue[] {
  const path = [...base, ...issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))]
  const { message } = issue
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = knownKeys.get(issue.keys)
      return [withoutUndefined({ path, code: 'unknown_key' as const, message, keys: [...issue.keys], known })]
    }
    case 'invalid_value':
      return [{ path, code: 'invalid', message, known: issue.values.map(String) }]
    case 'invalid_union': {
      if ('options' in issue && issue.options) {
        return [{ path, code: 'invalid', message, known: issue.options.map(String) }]
      }
      const likely = likelyMember(issue.errors)
      if (likely === undefined) return [{ path, code: 'invalid', message }]
      return likely.flatMap((each) => formatIssue(each, path, knownKeys))
    }
    case 'invalid_key':
    case 'invalid_element':
      return [{ path, code: 'invalid', message: [message, issue.issues[0]?.message].filter(Boolean).join(': ') }]
    default:
      return [{ path, code: 'invalid', message }]
  }
}

// A member whose first complaint is about the value as a whole ("expected a list") was not meant; of those that looked
// inside, the one with the fewest complaints was. None: undefined, and the union's own message lists what was expected.
function likelyMember(members: readonly z.core.$ZodIssue[][]): z.core.$ZodIssue[] | undefined {
  const inside = members.filter((issues) => issues.length > 0 && !issues.some(isOtherShape))
  return inside.sort((a, b) => a.length - b.length)[0]
}

function isOtherShape(issue: z.core.$ZodIssue): boolean {
  if (issue.code === 'invalid_union') return issue.path.length === 0 && likelyMember(issue.errors) === undefined
  const isTypeOrValue = issue.code === 'invalid_type' || issue.code === 'invalid_value'
  // `{ kind: 'a' }` against a member that wants kind "b": the wrong literal of a mapping tells members apart.
  const isTag = issue.code === 'invalid_value' && issue.values.length === 1 && issue.path.length === 1
  return (isTypeOrValue && issue.path.length === 0) || isTag
}

/** Of unknown keys that are named in one line. */
const mostKeys = 100

/** The words for an issue whose schema brings none. */
function words(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
    case 'invalid_value':
      return mismatch(expectation(issue), issue.input)
    case 'too_small':
      return outOfBounds(issue, issue.minimum, true)
    case 'too_big':
      return outOfBounds(issue, issue.maximum, false)
    case 'invalid_format':
      return `${format(issue)}, got ${shown(issue.input)}`
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}, got ${shown(issue.input)}`
    case 'unrecognized_keys':
      return `unknown key${issue.keys.length === 1 ? '' : 's'} ${issue.keys.slice(0, mostKeys).map(shown).join(', ')}${issue.keys.length > mostKeys ? ` and ${issue.keys.length - mostKeys} more` : ''}`
    case 'invalid_union':
      return union(issue)
    case 'invalid_key':
      return 'a key is not valid'
    case 'invalid_element':
      return 'an element is not valid'
    default:
      return 'is not valid'
  }
}

function mismatch(expected: string, input: unknown): string {
  return input === undefined ? `is missing: expected ${expected}` : `expected ${expected}, got ${shown(input)}`
}

function union(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string {
  if (Array.isArray(issue.options) && issue.discriminator !== undefined) {
    return mismatch(oneOf(issue.options), at(issue.input, issue.discriminator))
  }
  if (issue.inclusive === false) return 'fits more than one of the allowed forms'
  const expected = alternatives(issue.errors)
  return expected.length === 0 ? 'is not valid' : mismatch(expected.join(' or '), issue.input)
}

function alternatives(members: readonly z.core.$ZodIssue[][]): string[] {
  const each = members.flatMap((issues) =>
    issues
      .filter((issue) => issue.path.length === 0)
      .flatMap((issue) => {
        if (issue.code === 'invalid_union') return alternatives(issue.errors)
        return issue.code === 'invalid_type' || issue.code === 'invalid_value' ? [expectation(issue)] : []
      }),
  )
  return [...new Set(each)]
}

type Mismatch = { code: 'invalid_type'; expected: string } | { code: 'invalid_value'; values: z.core.util.Primitive[] }

function expectation(issue: Mismatch): string {
  if (issue.code === 'invalid_value') return oneOf(issue.values)
  return typeWords[issue.expected] ?? issue.expected
}

function oneOf(values: readonly unknown[]): string {
  return values.length === 1 ? shown(values[0]) : `one of ${values.map(shown).join(', ')}`
}

const typeWords: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  bigint: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  set: 'a set',
  map: 'a map',
  object: 'a mapping',
  record: 'a mapping',
  null: 'null',
  undefined: 'nothing',
  void: 'nothing',
  never: 'nothing',
  nonoptional: 'a value',
  date: 'a date',
  function: 'a function',
}

type Bound = { origin: string; exact?: boolean | undefined; inclusive?: boolean | undefined; input: unknown }

function outOfBounds({ origin, exact, inclusive, input }: Bound, limit: number | bigint, isSmall: boolean): string {
  const unit = units[origin]
  if (unit === undefined) {
    const words = isSmall ? ['at least', 'greater than'] : ['at most', 'less than']
    return `must be ${words[inclusive ? 0 : 1]} ${limit}, got ${shown(input)}`
  }
  if (isSmall && !exact && Number(limit) === 1) return 'must not be empty'
  return `must have ${exact ? 'exactly' : isSmall ? 'at least' : 'at most'} ${counted(limit, unit)}, got ${sizeOf(input)}`
}

const units: Record<string, [one: string, many: string]> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
  set: ['item', 'items'],
  map: ['entry', 'entries'],
  file: ['byte', 'bytes'],
}

function counted(count: number | bigint, [one, many]: [string, string]): string {
  return `${count} ${Number(count) === 1 ? one : many}`
}

function sizeOf(input: unknown): string {
  return String(at(input, 'length') ?? at(input, 'size') ?? shown(input))
}

function format(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidStringFormat>): string {
  switch (issue.format) {
    case 'starts_with':
      return `must start with ${shown(issue.prefix)}`
    case 'ends_with':
      return `must end with ${shown(issue.suffix)}`
    case 'includes':
      return `must contain ${shown(issue.includes)}`
    case 'regex':
      return `must match ${issue.pattern ?? 'its pattern'}`
    default:
      return `expected ${formatWords[issue.format] ?? `text in the format ${issue.format}`}`
  }
}

const formatWords: Record<string, string> = {
  url: 'a URL',
  email: 'an e-mail address',
  datetime: 'a date and time such as 2026-01-31T12:00:00Z',
  date: 'a date such as 2026-01-31',
  time: 'a time such as 12:00:00',
  duration: 'an ISO duration such as PT30M',
  uuid: 'a UUID',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  base64: 'base64 text',
  json_string: 'JSON text',
}

// Long enough to recognise what was written, short enough to stay on its line.
const longest = 60

/** A value as an error shows it: short, and a mapping or list only by what it is. */
function shown(value: unknown): string {
  if (typeof value === 'string') {
    const text = value.length > longest ? `${value.slice(0, longest).replace(/[\uD800-\uDBFF]$/, '')}…` : value
    return JSON.stringify(text)
  }
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (value instanceof Date) return 'a date'
  if (typeof value === 'object' && value !== null) return 'a mapping'
  if (typeof value === 'function') return 'a function'
  return String(value)
}

function at(value: unknown, key: string): unknown {
  return (typeof value === 'object' && value !== null) || typeof value === 'string'
    ? Reflect.get(Object(value), key)
    : undefined
}
