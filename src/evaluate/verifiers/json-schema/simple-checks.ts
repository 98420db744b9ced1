// Keywords that look at a number, at the length of something, or at a text.
import { boundedSearch } from '../bounded-search.ts'
import type { Check } from './schema-faults.ts'

type Rule = Readonly<Record<string, Check>>

const limit =
  <T>(
    measure: (value: unknown) => T | undefined,
    isBroken: (rule: number, measured: T) => boolean,
    words: string,
  ): Check =>
  (rule, value, { path }) => {
    const measured = measure(value)
    return measured !== undefined && isBroken(Number(rule), measured) ? [{ path, message: `${words} ${rule}` }] : []
  }

const numberOf = (value: unknown) => (typeof value === 'number' ? value : undefined)
const lengthOf = (value: unknown) => (typeof value === 'string' ? [...value].length : undefined)
const itemsOf = (value: unknown) => (Array.isArray(value) ? value.length : undefined)
const keysOf = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value).length : undefined
const less = (rule: number, measured: number) => measured < rule
const more = (rule: number, measured: number) => measured > rule

export const numberChecks: Rule = {
  minimum: limit(numberOf, less, 'must be at least'),
  maximum: limit(numberOf, more, 'must be at most'),
  exclusiveMinimum: limit(numberOf, (rule, value) => value <= rule, 'must be more than'),
  exclusiveMaximum: limit(numberOf, (rule, value) => value >= rule, 'must be less than'),
  // 0.3 is a multiple of 0.1, whatever the remainder of floating point says.
  multipleOf: limit(
    numberOf,
    (rule, value) => Math.abs(value / rule - Math.round(value / rule)) > 1e-9 * Math.max(1, Math.abs(value / rule)),
    'must be a multiple of',
  ),
  minItems: limit(itemsOf, less, 'must have so many items or more:'),
  maxItems: limit(itemsOf, more, 'must have no more items than'),
  minProperties: limit(keysOf, less, 'must have so many keys or more:'),
  maxProperties: limit(keysOf, more, 'must have no more keys than'),
}

export const textChecks: Rule = {
  minLength: limit(lengthOf, less, 'must have so many characters or more:'),
  maxLength: limit(lengthOf, more, 'must have no more characters than'),
  pattern: (rule, value, { path }) =>
    typeof value === 'string' && boundedSearch(String(rule), 'u', value) !== 'found'
      ? [{ path, message: `must match ${rule}` }]
      : [],
}
