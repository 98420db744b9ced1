import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import type { Random, Row } from '../../contracts/index.ts'
import { canonicalJson, defineTransform, EvsysError, suggest } from '../../kernel/index.ts'
import { count, nonEmpty, share } from '../rows/params.ts'
import { fieldOf, requiredField } from '../rows/raw-row.ts'

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
    field: nonEmpty.describe('Field to test; `a.b` leads into mappings.'),
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
    { error: 'needs a condition: equals, in, matches, min, max or nonempty' },
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

/** Rows that a fraction is drawn from at a time: enough to be random, few enough to hold. */
const blockRows = 1024

/** A random part of the rows, of an exact size, in their order. */
export const sample = defineTransform({
  kind: 'sample',
  summary: 'Keeps a random part of the rows, of exact size and in their order; the run’s seed decides which.',
  params: z
    .strictObject({
      n: count
        .optional()
        .describe('How many rows to keep. Data with fewer rows is kept whole.')
        .meta({ search: { off: 'less data, not better: name it in `space`' } }),
      fraction: z
        .number()
        .gt(0)
        .max(1)
        .optional()
        .describe('Share of the rows to keep, rounded to whole rows.')
        .meta({ search: { off: 'less data, not better: name it in `space`' } }),
    })
    .refine(({ n, fraction }) => (n === undefined) !== (fraction === undefined), {
      error: 'needs either n or fraction',
    }),
  async *run(rows, { params, signal, random }) {
    if (params.n !== undefined) yield* reservoir(rows, params.n, random('sample'), signal)
    else yield* fractionOf(rows, params.fraction ?? 1, (block) => random('sample', block), signal)
  },
})

// Algorithm R: every row so far is in the reservoir with the same chance. Holds n rows, whatever the data's size.
async function* reservoir(
  rows: AsyncIterable<Row>,
  n: number,
  random: Random,
  signal: AbortSignal,
): AsyncGenerator<Row> {
  const kept: { index: number; row: Row }[] = []
  let index = 0
  for await (const row of rows) {
    signal.throwIfAborted()
    if (index < n) kept.push({ index, row })
    else {
      const slot = random.int(index + 1)
      if (slot < n) kept[slot] = { index, row }
    }
    index++
  }
  kept.sort((a, b) => a.index - b.index)
  for (const { row } of kept) yield row
}

// Block by block, with quotas that add up to the rounded whole: the size is exact although the total is not known before.
async function* fractionOf(
  rows: AsyncIterable<Row>,
  fraction: number,
  random: (block: number) => Random,
  signal: AbortSignal,
): AsyncGenerator<Row> {
  let seen = 0
  let block: Row[] = []
  const draw = (): Row[] => {
    const first = seen - block.length
    const quota = Math.round(seen * fraction) - Math.round(first * fraction)
    const order = random(Math.floor(first / blockRows)).shuffle([...block.keys()])
    const chosen = new Set(order.slice(0, quota))
    const kept = block.filter((_, index) => chosen.has(index))
    block = []
    return kept
  }
  for await (const row of rows) {
    signal.throwIfAborted()
    block.push(row)
    seen++
    if (block.length === blockRows) yield* draw()
  }
  yield* draw()
}

const SplitParams = z
  .strictObject({
    part: z.enum(['train', 'val', 'test']).describe('The part to keep.'),
    train: share.default(0.8).describe('Share of the keys in train.'),
    val: share.default(0.1).describe('Share of the keys in val; the rest is test.'),
    key: nonEmpty
      .optional()
      .describe('Field that groups rows, such as a customer or a template; absent: the whole row.'),
    salt: z.string().default('').describe('Another text gives another split.'),
  })
  .refine(({ train, val }) => train + val <= 1 + 1e-9, { error: 'train and val together are more than 1' })

/** One part of the rows, the same for every seed. */
export const split = defineTransform({
  kind: 'split',
  summary: 'Keeps one part of the rows, train, val or test, decided by their key: equal rows and groups stay together.',
  params: SplitParams,
  async *run(rows, { params, signal }) {
    for await (const row of rows) {
      signal.throwIfAborted()
      if (partOf(row, params) === params.part) yield row
    }
  },
})

// Not the run's randomness: with another seed a row of train would stand in test.
function partOf(row: Row, { train, val, key, salt }: z.output<typeof SplitParams>): string {
  const value = key === undefined ? row : requiredField(row, key, `split: the row has no field "${key}"`)
  const text = canonicalJson([salt, value])
  const digest = createHash('sha256').update(text).digest()
  const at = digest.readUIntBE(0, 6) / 2 ** 48
  return at < train ? 'train' : at < train + val ? 'val' : 'test'
}

/** The rows in random order. */
export const shuffle = defineTransform({
  kind: 'shuffle',
  summary: 'Puts the rows in random order, decided by the run’s seed; holds all of them at once.',
  params: z.strictObject({}),
  async *run(rows, { signal, random }) {
    const all: Row[] = []
    for await (const row of rows) {
      signal.throwIfAborted()
      all.push(row)
    }
    yield* random('shuffle').shuffle(all)
  },
})

/** Rows as they are. */
export const identity = defineTransform({
  kind: 'identity',
  summary: 'Passes every row on unchanged.',
  params: z.strictObject({}),
  async *run(rows, { signal }) {
    for await (const row of rows) {
      signal.throwIfAborted()
      yield row
    }
  },
})
