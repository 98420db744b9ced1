// As much of JSON Schema draft 7 as our schemas use; a keyword that it does not know is an error, so that nothing is skipped.

type Schema = Readonly<Record<string, unknown>>

/** Paths at which a value breaks a schema; none when it fits. */
export function schemaFaults(schema: unknown, value: unknown, path = ''): string[] {
  if (schema === true || !isSchema(schema)) return []
  return Object.entries(schema).flatMap(([keyword, rule]) => {
    const check = checks[keyword]
    if (check === undefined) throw new Error(`the keyword ${keyword} is not known, at ${path}`)
    return check(rule, value, path, schema)
  })
}

type Check = (rule: unknown, value: unknown, path: string, schema: Schema) => string[]

const ignored: Check = () => []
const when =
  (isBroken: (rule: never, value: never) => boolean, applies: (value: unknown) => boolean): Check =>
  (rule, value, path) =>
    applies(value) && isBroken(rule as never, value as never) ? [path] : []

const isText = (value: unknown) => typeof value === 'string'
const isNumber = (value: unknown) => typeof value === 'number'
const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const checks: Readonly<Record<string, Check>> = {
  $schema: ignored,
  $id: ignored,
  title: ignored,
  description: ignored,
  default: ignored,
  type: (rule, value, path) => ([rule].flat().some((type) => hasType(value, String(type))) ? [] : [path]),
  enum: (rule, value, path) => (list(rule).includes(value) ? [] : [path]),
  const: (rule, value, path) => (rule === value ? [] : [path]),
  minimum: when((rule: number, value: number) => value < rule, isNumber),
  maximum: when((rule: number, value: number) => value > rule, isNumber),
  exclusiveMinimum: when((rule: number, value: number) => value <= rule, isNumber),
  exclusiveMaximum: when((rule: number, value: number) => value >= rule, isNumber),
  minLength: when((rule: number, value: string) => [...value].length < rule, isText),
  maxLength: when((rule: number, value: string) => [...value].length > rule, isText),
  pattern: when((rule: string, value: string) => !new RegExp(rule, 'u').test(value), isText),
  minItems: when((rule: number, value: unknown[]) => value.length < rule, Array.isArray),
  items: (rule, value, path) => list(value).flatMap((item, i) => schemaFaults(rule, item, `${path}/${i}`)),
  required: (rule, value, path) =>
    isMapping(value) && list(rule).some((key) => !(String(key) in value)) ? [path] : [],
  properties: (rule, value, path) =>
    isMapping(value) && isSchema(rule)
      ? Object.entries(rule).flatMap(([key, field]) =>
          Object.hasOwn(value, key) ? schemaFaults(field, value[key], `${path}/${key}`) : [],
        )
      : [],
  additionalProperties: (rule, value, path, schema) => {
    if (!isMapping(value)) return []
    const known = isSchema(schema.properties) ? Object.keys(schema.properties) : []
    const others = Object.keys(value).filter((key) => !known.includes(key))
    if (rule === false) return others.map((key) => `${path}/${key}`)
    return others.flatMap((key) => schemaFaults(rule, value[key], `${path}/${key}`))
  },
  propertyNames: (rule, value, path) =>
    isMapping(value) ? Object.keys(value).flatMap((key) => schemaFaults(rule, key, `${path}/${key}`)) : [],
  anyOf: (rule, value, path) => (list(rule).some((each) => schemaFaults(each, value, path).length === 0) ? [] : [path]),
  allOf: (rule, value, path) => list(rule).flatMap((each) => schemaFaults(each, value, path)),
}

function hasType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isMapping(value)
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type
}

function isSchema(value: unknown): value is Schema {
  return isMapping(value)
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
