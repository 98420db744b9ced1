import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { defineTransform, EvsysError, suggest } from '../../kernel/index.ts'
import { fieldOf } from '../row-field.ts'

const Scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])

const Pattern = z
  .string()
  .min(1)
  .max(1000)
  .superRefine((text, context) => {
    try {
      new RegExp(text, 'u')
    } catch (cause) {
      context.addIssue({ code: 'custom', message: cause instanceof Error ? cause.message : 'is no regular expression' })
    }
  })

const Params = z
  .strictObject({
    field: z.string().min(1).describe('Field to look at; `a.b` leads into mappings.'),
    equals: Scalar.optional().describe('Keep rows whose field is this value.'),
    in: z.array(Scalar).min(1).optional().describe('Keep rows whose field is one of these values.'),
    matches: Pattern.optional().describe('Keep rows whose field is text with a match of this regular expression.'),
    min: z.number().optional().describe('Keep rows whose field is a number of at least this.'),
    max: z.number().optional().describe('Keep rows whose field is a number of at most this.'),
    nonempty: z
      .literal(true)
      .optional()
      .describe('Keep rows whose field is there and neither null nor an empty text, list or mapping.'),
    negate: z.boolean().default(false).describe('Keep the other rows instead.'),
  })
  .refine(
    ({ field: _field, negate: _negate, ...conditions }) => Object.values(conditions).some((each) => each !== undefined),
    {
      error: 'needs a condition: equals, in, matches, min, max or nonempty',
    },
  )

type Params = z.output<typeof Params>

/** Rows whose field meets every condition that is given. */
export const filter = defineTransform({
  kind: 'filter',
  summary: 'Keeps the rows whose field meets every given condition; a row without the field meets none.',
  params: Params,
  async *run(rows, { params, signal }) {
    const test = conditionOf(params)
    const keys = new Set<string>()
    let isKnown = false
    for await (const row of rows) {
      signal.throwIfAborted()
      const value = fieldOf(row, params.field)
      isKnown ||= value !== undefined
      if (!isKnown && keys.size < 100) for (const key of Object.keys(row)) keys.add(key)
      if (test(value) !== params.negate) yield row
    }
    // No row at all has it: the name is wrong, not the data.
    if (!isKnown && keys.size > 0) {
      throw new EvsysError('DATA_INVALID', `filter: no row has the field "${params.field}"`, {
        fix: suggest(params.field, [...keys]),
      })
    }
  },
})

function conditionOf(params: Params): (value: unknown) => boolean {
  const pattern = params.matches === undefined ? undefined : new RegExp(params.matches, 'u')
  const tests: ((value: unknown) => boolean)[] = []
  if (params.equals !== undefined) tests.push((value) => value === params.equals)
  if (params.in !== undefined) tests.push((value) => params.in?.some((each) => each === value) === true)
  if (pattern !== undefined) tests.push((value) => typeof value === 'string' && pattern.test(value))
  if (params.min !== undefined) tests.push((value) => typeof value === 'number' && value >= (params.min ?? 0))
  if (params.max !== undefined) tests.push((value) => typeof value === 'number' && value <= (params.max ?? 0))
  if (params.nonempty) tests.push((value) => value !== undefined && !isEmpty(value))
  return (value) => tests.every((test) => test(value))
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || isDeepStrictEqual(value, []) || isDeepStrictEqual(value, {})
}
