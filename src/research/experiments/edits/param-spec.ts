// What a param may be, read from the JSON Schema of its plugin: the mark of its author first (`search`), else bounds, choices and what
// the document says. Nothing is guessed of a param that says neither.
import { type EditArea, type KnobSpec, type KnobValue, SearchMark } from '../../../contracts/index.ts'
import { isMapping, suggest } from '../../../kernel/index.ts'
import type { Mapping } from './places.ts'

/** A param as a knob, or why it is none. */
export type ParamSpec =
  | {
      readonly spec: KnobSpec
      /** Where the document does not say. */
      readonly value: KnobValue
      readonly from: 'mark' | 'schema' | 'document'
      readonly area: EditArea | undefined
      readonly when: Readonly<Record<string, readonly KnobValue[]>>
      /** What a choice writes, where that is not the choice itself. */
      readonly values?: Readonly<Record<string, unknown>> | undefined
    }
  | { readonly why: string }

/** The schema of a param by its name; `a.b` leads into mappings. */
export function paramSchema(schema: Mapping | undefined, path: readonly string[]): Mapping | undefined {
  return path.reduce<Mapping | undefined>((here, step) => {
    const inner = isMapping(here?.properties) ? here.properties[step] : undefined
    return isMapping(inner) ? inner : undefined
  }, schema)
}

export function paramNames(schema: Mapping | undefined): string[] {
  return isMapping(schema?.properties) ? Object.keys(schema.properties) : []
}

/** `written`: what the document says; undefined: nothing. `fields`: of its rows, as templates name them. */
export function paramSpec(schema: Mapping, written: unknown, fields: readonly string[] = []): ParamSpec {
  const parsed = schema.search === undefined ? undefined : SearchMark.safeParse(schema.search)
  if (parsed?.success === false) return { why: 'its mark `search` cannot be read' }
  const mark = parsed?.data
  if (mark !== undefined && 'off' in mark) return { why: mark.off }
  const today = written ?? schema.default
  if (mark?.fields === true) return fieldChoice(written, fields, mark)
  if (mark?.template === true) return templateChoice(written, mark)
  if (mark === undefined && written === undefined) return { why: 'not marked for search, and not written' }
  const found = mark === undefined ? specOfSchema(schema, today) : specOfMark(mark, schema, today)
  if (found === undefined)
    return { why: typeof today === 'object' ? 'a list or a mapping' : 'no range and no choices are known' }
  const from = mark === undefined ? (boundsOf(schema).length === 2 || schema.enum ? 'schema' : 'document') : 'mark'
  const when = mark?.when ?? {}
  const usual = isKnobValue(schema.default) ? schema.default : today
  if (isKnobValue(today) && isKnobValue(usual)) {
    return { spec: within(found, today), value: usual, from, area: mark?.area, when }
  }
  // Absent is a value too, under a name of its own.
  if (found.kind === 'choice') {
    const spec = { ...found, values: [absent, ...found.values] }
    return { spec, value: absent, from, area: mark?.area, when, values: { [absent]: null } }
  }
  return { why: 'it has no value now, and no default' }
}

/** The choice that takes a param out. */
const absent = '(default)'

function specOfMark(mark: Exclude<SearchMark, { off: string }>, schema: Mapping, today: unknown): KnobSpec | undefined {
  if (mark.values !== undefined) return choice(mark.values, true)
  const isWhole = schema.type === 'integer'
  const range = (low: number, high: number): KnobSpec => ({
    kind: 'range',
    low: isWhole ? Math.ceil(low) : low,
    high: isWhole ? Math.floor(high) : high,
    log: mark.scale === 'log',
    integer: isWhole,
  })
  if (mark.around !== undefined && typeof today === 'number' && today > 0) {
    return range(rounded(today / mark.around), rounded(today * mark.around))
  }
  const [least, most] = [mark.from ?? minimumOf(schema), mark.to ?? maximumOf(schema)]
  if (least !== undefined && most !== undefined) return range(least, most)
  return specOfSchema(schema, today)
}

function specOfSchema(schema: Mapping, today: unknown): KnobSpec | undefined {
  if (Array.isArray(schema.enum)) return choice(schema.enum.filter(isKnobValue), false)
  if (schema.type === 'boolean') return choice([false, true], false)
  if (schema.type !== 'number' && schema.type !== 'integer') return undefined
  const integer = schema.type === 'integer'
  const [low, high] = boundsOf(schema)
  if (low !== undefined && high !== undefined) return { kind: 'range', low, high, log: false, integer }
  if (typeof today !== 'number' || !(today > 0)) return undefined
  const [least, most] = [minimumOf(schema) ?? 0, maximumOf(schema) ?? Number.POSITIVE_INFINITY]
  const [from, to] = [Math.max(today / 4, least), Math.min(today * 4, most)]
  const ends = integer ? [Math.max(1, Math.round(from)), Math.round(to)] : [rounded(from), rounded(to)]
  const [lowest = today, highest = today] = ends
  return { kind: 'range', low: lowest, high: highest, log: lowest > 0, integer }
}

function boundsOf(schema: Mapping): number[] {
  return [minimumOf(schema), maximumOf(schema)].flatMap((each) => each ?? [])
}

function minimumOf(schema: Mapping): number | undefined {
  if (typeof schema.minimum === 'number') return schema.minimum
  return typeof schema.exclusiveMinimum === 'number' ? schema.exclusiveMinimum : undefined
}

function maximumOf(schema: Mapping): number | undefined {
  if (typeof schema.maximum === 'number') return schema.maximum
  return typeof schema.exclusiveMaximum === 'number' ? schema.exclusiveMaximum : undefined
}

function choice(values: readonly KnobValue[], isOrdered: boolean): KnobSpec {
  const ordered = isOrdered && values.every((value) => typeof value === 'number')
  return { kind: 'choice', values: [...values], ordered }
}

/** Wide enough for what the document says today: the search begins there. */
export function within(spec: KnobSpec, today: KnobValue): KnobSpec {
  if (spec.kind === 'range') {
    if (typeof today !== 'number') return spec
    const log = spec.log && Math.min(spec.low, today) > 0
    return { ...spec, low: Math.min(spec.low, today), high: Math.max(spec.high, today), log }
  }
  if (spec.values.includes(today)) return spec
  const values = [...spec.values, today]
  const isNumeric = spec.ordered && values.every((value) => typeof value === 'number')
  return { ...spec, values: isNumeric ? values.sort((a, b) => Number(a) - Number(b)) : values }
}

type OpenMark = Exclude<SearchMark, { off: string }>

// A field of the rows, by its name, or none.
function fieldChoice(written: unknown, fields: readonly string[], mark: OpenMark): ParamSpec {
  const own = typeof written === 'string' ? [written] : []
  const known = [...new Set([...own, ...fields])]
  if (known.length === 0) return { why: 'no field of the rows is known: name some in `space`' }
  const spec: KnobSpec = { kind: 'choice', values: [absent, ...known], ordered: false }
  const values = { [absent]: null }
  return { spec, value: own[0] ?? absent, from: 'mark', area: mark.area, when: mark.when ?? {}, values }
}

// Ways to write the same field: bare, with its name before it, and as an answer that is easy to find.
function templateChoice(written: unknown, mark: OpenMark): ParamSpec {
  if (typeof written !== 'string') return { why: 'there is no template now: name some in `space`' }
  const [field, ...others] = [...written.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name)
  if (field === undefined || others.length > 0) return { why: 'a template of several fields: name others in `space`' }
  const title = field.charAt(0).toUpperCase() + field.slice(1).replaceAll(/[_.]/g, ' ')
  const all = [written, `{${field}}`, `${title}: {${field}}`, `<answer>{${field}}</answer>`]
  const wrapped = mark.area === 'prompt' ? all.slice(0, 3) : all
  const spec: KnobSpec = { kind: 'choice', values: [...new Set(wrapped)], ordered: false }
  return { spec, value: written, from: 'mark', area: mark.area ?? 'template', when: mark.when ?? {} }
}

/** Why a value is none that a param may have; undefined: it may. */
export function refusal(schema: Mapping | undefined, value: unknown): string | undefined {
  if (schema === undefined || value === null) return undefined
  if (Array.isArray(schema.anyOf)) {
    const all = schema.anyOf.map((each) => refusal(isMapping(each) ? each : undefined, value))
    return all.every((each) => each !== undefined) ? all[0] : undefined
  }
  if (Array.isArray(schema.enum) && !schema.enum.includes(value)) {
    return `${JSON.stringify(value)} is none of its values: ${suggest(String(value), schema.enum.map(String))}`
  }
  const types: Readonly<Record<string, (each: unknown) => boolean>> = {
    number: (each) => typeof each === 'number',
    integer: Number.isInteger,
    string: (each) => typeof each === 'string',
    boolean: (each) => typeof each === 'boolean',
    array: Array.isArray,
    object: isMapping,
  }
  const isType = typeof schema.type === 'string' ? types[schema.type] : undefined
  if (isType?.(value) === false) return `${JSON.stringify(value)} is no ${schema.type}`
  if (typeof value !== 'number') return undefined
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  const isLow =
    (typeof minimum === 'number' && value < minimum) ||
    (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum)
  const isHigh =
    (typeof maximum === 'number' && value > maximum) ||
    (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum)
  return isLow || isHigh ? `${value} lies outside of what it may be` : undefined
}

export function isKnobValue(value: unknown): value is KnobValue {
  return (
    typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  )
}

function rounded(value: number): number {
  return Number(value.toPrecision(6))
}
