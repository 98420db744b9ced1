// Where a JSON value breaks a JSON Schema. It knows the keywords of draft 7 and 2020-12 that say what a value must be; a schema
// with another keyword is refused before anything is scored, so that no rule is ever passed over. References lead inside the
// schema alone.

import { boundedSearch } from '../bounded-search.ts'
import { equalJson } from '../equal-json.ts'
import { numberChecks, textChecks } from './simple-checks.ts'

export type Schema = Readonly<Record<string, unknown>>
export type Check = (rule: unknown, value: unknown, place: Place, schema: Schema) => Fault[]

export interface Fault {
  /** `/items/0/name`; empty for the whole. */
  readonly path: string
  readonly message: string
}

export interface Place {
  readonly path: string
  readonly root: unknown
  readonly depth: number
}

const deepest = 100

/** Faults of a value, the first ones; none when it fits. */
export function schemaFaults(schema: unknown, value: unknown, place: Place = atRoot(schema)): Fault[] {
  if (schema === true) return []
  if (schema === false) return [fault(place, 'nothing is allowed here')]
  if (!isMapping(schema)) throw new TypeError('a schema is a mapping or a truth value')
  if (place.depth > deepest) throw new RangeError(`the schema leads more than ${deepest} levels deep`)
  return Object.entries(schema).flatMap(([keyword, rule]) => {
    const check = Object.hasOwn(checks, keyword) ? checks[keyword] : undefined
    return check === undefined ? [] : check(rule, value, place, schema)
  })
}

function atRoot(root: unknown): Place {
  return { path: '', root, depth: 0 }
}

const inside = (place: Place, key: string | number): Place => ({
  ...place,
  path: `${place.path}/${key}`,
  depth: place.depth + 1,
})
const deeper = (place: Place): Place => ({ ...place, depth: place.depth + 1 })
const fault = ({ path }: Place, message: string): Fault => ({ path, message })
const fits = (schema: unknown, value: unknown, place: Place) => schemaFaults(schema, value, deeper(place)).length === 0

/** Keywords that carry no rule of their own. */
const silent: Check = () => []
const annotations = [
  '$schema',
  '$id',
  '$comment',
  '$defs',
  'definitions',
  'title',
  'description',
  'default',
  'examples',
]

export const checks: Readonly<Record<string, Check>> = {
  ...Object.fromEntries(
    [...annotations, 'format', 'deprecated', 'readOnly', 'writeOnly', 'then', 'else', 'minContains', 'maxContains'].map(
      (keyword) => [keyword, silent],
    ),
  ),
  ...numberChecks,
  ...textChecks,
  $ref: (rule, value, place) => schemaFaults(resolveReference(place.root, rule), value, deeper(place)),
  type: (rule, value, place) =>
    [rule].flat().some((type) => hasType(value, String(type)))
      ? []
      : [fault(place, `must be of type ${[rule].flat().join(' or ')}`)],
  enum: (rule, value, place) =>
    list(rule).some((each) => equalJson(each, value)) ? [] : [fault(place, 'is none of the allowed values')],
  const: (rule, value, place) => (equalJson(rule, value) ? [] : [fault(place, 'is not the one allowed value')]),
  items: (rule, value, place, { prefixItems }) =>
    Array.isArray(rule)
      ? prefixFaults(rule, value, place)
      : list(value).flatMap((item, i) =>
          i < list(prefixItems).length ? [] : schemaFaults(rule, item, inside(place, i)),
        ),
  prefixItems: (rule, value, place) => prefixFaults(list(rule), value, place),
  uniqueItems: (rule, value, place) =>
    rule === true &&
    list(value).some((item, i) =>
      list(value)
        .slice(0, i)
        .some((other) => equalJson(item, other)),
    )
      ? [fault(place, 'holds an item twice')]
      : [],
  contains: (rule, value, place, { minContains = 1, maxContains = Number.POSITIVE_INFINITY }) => {
    if (!Array.isArray(value)) return []
    const found = value.filter((item) => fits(rule, item, place)).length
    return found >= Number(minContains) && found <= Number(maxContains)
      ? []
      : [fault(place, `holds ${found} items of the asked kind`)]
  },
  required: (rule, value, place) =>
    isMapping(value)
      ? list(rule).flatMap((key) =>
          Object.hasOwn(value, String(key)) ? [] : [fault(inside(place, String(key)), 'is missing')],
        )
      : [],
  dependentRequired: (rule, value, place) =>
    isMapping(value) && isMapping(rule)
      ? Object.entries(rule).flatMap(([key, needed]) =>
          Object.hasOwn(value, key) ? (checks.required?.(needed, value, place, {}) ?? []) : [],
        )
      : [],
  properties: (rule, value, place) =>
    isMapping(value) && isMapping(rule)
      ? Object.entries(rule).flatMap(([key, field]) =>
          Object.hasOwn(value, key) ? schemaFaults(field, value[key], inside(place, key)) : [],
        )
      : [],
  patternProperties: (rule, value, place) =>
    isMapping(value) && isMapping(rule)
      ? Object.entries(rule).flatMap(([pattern, field]) =>
          Object.keys(value)
            .filter((key) => boundedSearch(pattern, 'u', key) === 'found')
            .flatMap((key) => schemaFaults(field, value[key], inside(place, key))),
        )
      : [],
  additionalProperties: (rule, value, place, { properties, patternProperties }) => {
    if (!isMapping(value)) return []
    const patterns = Object.keys(isMapping(patternProperties) ? patternProperties : {})
    const isKnown = (key: string) =>
      (isMapping(properties) && Object.hasOwn(properties, key)) ||
      patterns.some((pattern) => boundedSearch(pattern, 'u', key) === 'found')
    return Object.keys(value)
      .filter((key) => !isKnown(key))
      .flatMap((key) =>
        rule === false
          ? [fault(inside(place, key), 'is not allowed')]
          : schemaFaults(rule, value[key], inside(place, key)),
      )
  },
  propertyNames: (rule, value, place) =>
    isMapping(value) ? Object.keys(value).flatMap((key) => schemaFaults(rule, key, inside(place, key))) : [],
  allOf: (rule, value, place) => list(rule).flatMap((each) => schemaFaults(each, value, deeper(place))),
  anyOf: (rule, value, place) =>
    list(rule).some((each) => fits(each, value, place)) ? [] : [fault(place, 'fits none of the alternatives')],
  oneOf: (rule, value, place) => {
    const n = list(rule).filter((each) => fits(each, value, place)).length
    return n === 1 ? [] : [fault(place, `fits ${n} of the alternatives, where one is asked for`)]
  },
  not: (rule, value, place) => (fits(rule, value, place) ? [fault(place, 'fits what is not allowed')] : []),
  if: (rule, value, place, { then: yes = true, else: no = true }) =>
    schemaFaults(fits(rule, value, place) ? yes : no, value, deeper(place)),
}

function prefixFaults(rules: readonly unknown[], value: unknown, place: Place): Fault[] {
  return list(value).flatMap((item, i) => (i < rules.length ? schemaFaults(rules[i], item, inside(place, i)) : []))
}

/** What `#/$defs/name` leads to. */
export function resolveReference(root: unknown, reference: unknown): unknown {
  if (typeof reference !== 'string' || !reference.startsWith('#')) {
    throw new TypeError(`the reference ${JSON.stringify(reference)} leads out of the schema`)
  }
  const parts = decodeURIComponent(reference.slice(1)).split('/').slice(1)
  return parts.reduce<unknown>((at, part) => {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof at === 'object' && at !== null && Object.hasOwn(at, key)) return Reflect.get(at, key)
    throw new TypeError(`the reference ${reference} leads nowhere`)
  }, root)
}

function hasType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isMapping(value)
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type
}

export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
