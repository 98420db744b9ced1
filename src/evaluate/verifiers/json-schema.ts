// JSON in an answer against a JSON Schema of draft 7 or 2020-12. Ajv compares; what is held against it is ours: a schema with a keyword
// that is not known here is refused, so that no rule is ever passed over; references lead inside the schema alone; patterns are searched
// within a deadline; values are compared as JSON, whatever their keys are called.
import { createRequire } from 'node:module'
import type { Ajv, Options, ValidateFunction, Vocabulary } from 'ajv'
import * as z from 'zod'
import { defineVerifier, EvsysError, isMapping, messageOf } from '../../kernel/index.ts'
import { boundedSearch } from './bounded-search.ts'
import { equalJson, firstJsonValue } from './json-answer.ts'

const Schema = z.union([z.boolean(), z.record(z.string(), z.unknown())]).superRefine((schema, context) => {
  const problem = schemaProblem(schema)
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
})

export const jsonSchema = defineVerifier({
  kind: 'json_schema',
  summary: 'Reward 1 if the JSON in the answer fits a schema: that of the params, or else what the task expects.',
  params: z.strictObject({
    schema: Schema.optional().describe(
      'JSON Schema (draft 7 or 2020-12). Absent: `expected` of the task is the schema.',
    ),
    match_expected: z
      .boolean()
      .default(false)
      .describe('With a schema in params: the value must also equal what the task expects.'),
  }),
  verify({ output, expected }, { params }) {
    const schema = params.schema ?? checkedSchema(expected)
    const found = firstJsonValue(output)
    if (found === undefined) return { reward: 0, info: { reason: 'the answer holds no JSON' } }
    const [first, ...others] = schemaFaults(schema, found.value)
    if (first !== undefined) {
      const reason = `${first.path === '' ? 'the value' : first.path} ${first.message}`
      return { reward: 0, info: { reason, n_faults: others.length + 1 } }
    }
    if (params.schema === undefined || !params.match_expected) return 1
    return equalJson(found.value, parsedExpected(expected)) ? 1 : { reward: 0, info: { reason: 'the value differs' } }
  },
})

function checkedSchema(expected: unknown): unknown {
  const problem = schemaProblem(expected)
  if (problem === undefined) return expected
  throw new EvsysError('DATA_INVALID', `json_schema: what the task expects is no schema: ${problem}`, {
    fix: 'give the verifier params: { schema: {...} }, or the task an `expected` schema.',
  })
}

function parsedExpected(expected: unknown): unknown {
  return typeof expected === 'string' ? (firstJsonValue(expected)?.value ?? expected) : expected
}

/** Faults of a value; none when it fits. `path` is `/items/0/name`, empty for the whole. */
export function schemaFaults(schema: unknown, value: unknown): { path: string; message: string }[] {
  const validate = validatorOf(schema)
  try {
    if (validate(value)) return []
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    throw new RangeError('the schema leads to itself: it is too many levels deep', { cause })
  }
  return (validate.errors ?? []).map(({ instancePath, message = 'does not fit', params }) => {
    const extra: unknown = params.additionalProperty
    return { path: instancePath, message: typeof extra === 'string' ? `${message}: ${extra}` : message }
  })
}

const holdsSchemas = ['properties', 'patternProperties', '$defs', 'definitions']
const holdsOne = ['items', 'contains', 'additionalProperties', 'propertyNames', 'not', 'if', 'then', 'else']
const holdsList = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
const keywords = new Set([
  ...[...holdsSchemas, ...holdsOne, ...holdsList, '$ref', 'type', 'enum', 'const', 'required', 'dependentRequired'],
  ...['$schema', '$id', '$comment', 'title', 'description', 'default', 'examples', 'format', 'deprecated'],
  ...['readOnly', 'writeOnly', 'uniqueItems', 'minContains', 'maxContains', 'minItems', 'maxItems', 'multipleOf'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minProperties', 'maxProperties'],
  ...['minLength', 'maxLength', 'pattern'],
])
const deepest = 50

/** The first thing that is wrong with a schema, in words. */
function schemaProblem(schema: unknown): string | undefined {
  const problem = ruleProblem(schema, schema, 0)
  if (problem !== undefined) return problem
  if (holds(schema, isTuple) && holds(schema, (each) => 'prefixItems' in each)) {
    return 'a list of "items" (draft 7) and "prefixItems" (2020-12) do not go together'
  }
  try {
    validatorOf(schema)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

function ruleProblem(schema: unknown, root: unknown, depth: number): string | undefined {
  if (typeof schema === 'boolean') return undefined
  if (!isMapping(schema)) return 'a schema must be a mapping'
  if (depth > deepest) return 'it is nested too deeply'
  for (const [keyword, rule] of Object.entries(schema)) {
    const problem =
      keywordProblem(keyword, rule, root) ??
      childrenOf(keyword, rule)
        .map((child) => ruleProblem(child, root, depth + 1))
        .find((each) => each !== undefined)
    if (problem !== undefined) return problem
  }
  return undefined
}

function keywordProblem(keyword: string, rule: unknown, root: unknown): string | undefined {
  if (!keywords.has(keyword)) return `the keyword "${keyword}" is not supported`
  if (keyword === '$ref') return referenceProblem(root, rule)
  if (keyword === 'pattern') return patternProblem(rule)
  if (keyword === 'required' && !Array.isArray(rule)) return '"required" must be a list'
  if (keyword === 'enum' && (!Array.isArray(rule) || rule.length === 0)) return '"enum" must be a list of values'
  if (!isMapping(rule)) return undefined
  // Ajv passes over rules for this name.
  if (Object.hasOwn(rule, '__proto__')) return 'the name "__proto__" is not supported'
  const patterns = keyword === 'patternProperties' ? Object.keys(rule) : []
  return patterns.map(patternProblem).find((each) => each !== undefined)
}

function childrenOf(keyword: string, rule: unknown): readonly unknown[] {
  if (holdsSchemas.includes(keyword)) return isMapping(rule) ? Object.values(rule) : []
  if (Array.isArray(rule) && (holdsList.includes(keyword) || keyword === 'items')) return rule
  return holdsOne.includes(keyword) ? [rule] : []
}

function patternProblem(pattern: unknown): string | undefined {
  try {
    new RegExp(String(pattern), 'u')
    return undefined
  } catch {
    return `the pattern ${JSON.stringify(pattern)} does not compile`
  }
}

/** Why `#/$defs/name` leads to nothing in the schema. */
function referenceProblem(root: unknown, reference: unknown): string | undefined {
  if (typeof reference !== 'string' || !reference.startsWith('#')) {
    return `the reference ${JSON.stringify(reference)} leads out of the schema`
  }
  let at = root
  for (const part of decodeURIComponent(reference.slice(1)).split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key))
      return `the reference ${reference} leads nowhere`
    at = Reflect.get(at, key)
  }
  return undefined
}

const compiled = new Map<string, ValidateFunction>()
const mostCompiled = 100

// Tasks by the thousand share a schema; the few that are in use are kept.
function validatorOf(schema: unknown): ValidateFunction {
  const key = JSON.stringify(schema)
  const known = compiled.get(key)
  if (known !== undefined) return known
  const own: unknown = JSON.parse(key)
  holds(own, removeIds)
  const ajv = holds(own, isTuple) ? draft7() : draft2020()
  const validate = ajv.compile(typeof own === 'boolean' ? own : Object(own))
  ajv.removeSchema(Object(own)) // it would be kept for ever
  const [oldest] = compiled.keys()
  if (compiled.size >= mostCompiled && oldest !== undefined) compiled.delete(oldest)
  compiled.set(key, validate)
  return validate
}

// Names of schemas, which references of ours never use, would lead them elsewhere.
function removeIds(schema: Record<string, unknown>): false {
  delete schema.$id
  delete schema.$schema
  return false
}

const isTuple = ({ items }: Record<string, unknown>) => Array.isArray(items)

/** Whether a schema, or one inside it, is as asked. */
function holds(schema: unknown, isAsked: (each: Record<string, unknown>) => boolean): boolean {
  if (!isMapping(schema)) return false
  const children = Object.entries(schema).flatMap(([keyword, rule]) => childrenOf(keyword, rule))
  return isAsked(schema) || children.some((child) => holds(child, isAsked))
}

const options: Options = {
  strict: false,
  allErrors: true,
  ownProperties: true,
  validateFormats: false,
  multipleOfPrecision: 9, // 0.3 is a multiple of 0.1, whatever the remainder of floating point says
  logger: false,
  code: { regExp: Object.assign(boundedPattern, { code: 'boundedPattern' }) },
}

function boundedPattern(pattern: string, flags: string) {
  const test = (text: string) => boundedSearch(pattern, flags, text) === 'found'
  return { test, toString: () => `/${pattern}/${flags}` } // its text is its identity
}

// Loaded with the first schema: most runs have none. Params are checked at once, so it cannot be awaited.
const load = createRequire(import.meta.url)
let newer: Ajv | undefined
let older: Ajv | undefined

function draft2020(): Ajv {
  const { Ajv2020 } = load('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js') // what the package declares
  newer ??= withOurEquality(new Ajv2020(options))
  return newer
}

// With keywords of 2019-09 that stand beside those of draft 7 in many schemas.
function draft7(): Ajv {
  const ajv = load('ajv') as typeof import('ajv') // what the package declares
  const { default: next } = load('ajv/dist/vocabularies/next.js') as { default: Vocabulary } // it has no declaration
  older ??= withOurEquality(new ajv.Ajv({ ...options, next: true }).addVocabulary(next))
  return older
}

// Ajv asks values for `constructor` and `valueOf`, which may be keys of an answer.
function withOurEquality(ajv: Ajv): Ajv {
  for (const keyword of ['const', 'enum', 'uniqueItems']) ajv.removeKeyword(keyword)
  const isUnique = (items: readonly unknown[]) =>
    items.every((item, i) => items.slice(0, i).every((other) => !equalJson(item, other)))
  return ajv
    .addKeyword({ keyword: 'const', validate: equalJson, error: { message: 'is not the one allowed value' } })
    .addKeyword({
      keyword: 'enum',
      validate: (allowed: readonly unknown[], value: unknown) => allowed.some((each) => equalJson(each, value)),
      error: { message: 'is none of the allowed values' },
    })
    .addKeyword({
      keyword: 'uniqueItems',
      type: 'array',
      validate: (rule: unknown, items: readonly unknown[]) => rule !== true || isUnique(items),
      error: { message: 'holds an item twice' },
    })
}
