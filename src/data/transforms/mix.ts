import * as z from 'zod'
import type { Random, Row } from '../../contracts/index.ts'
import { defineTransform, EvsysError, suggest } from '../../kernel/index.ts'
import { count, nonEmpty, someFields } from '../rows/params.ts'
import { fieldOf, rowError } from '../rows/raw-row.ts'

const Params = z.strictObject({
  key: nonEmpty.describe('Field that says what a row is of, such as its language or its file.'),
  weights: someFields(z.number().gt(0), 'needs at least one weight').describe(
    'Value of the field -> weight. A share is a weight divided by their sum.',
  ),
  n: count.optional().describe('Rows in all. Absent: as many as the shares allow without taking a row twice.'),
  repeat: z.boolean().default(false).describe('Take rows again where there are too few for n.'),
  others: z.enum(['error', 'drop']).default('error').describe('What happens to a row whose value has no weight.'),
})
type Params = z.output<typeof Params>

/** Rows of several kinds in given shares, in random order. */
export const mix = defineTransform({
  kind: 'mix',
  summary:
    'Mixes rows of several kinds in given shares, of exact size and in random order; the run’s seed decides which and where.',
  params: Params,
  async *run(rows, { params, signal, random }) {
    const groups = await gather(rows, params, random, signal)
    const quotas = quotasOf(groups, params)
    const drawn = [...groups].flatMap(([value, { kept }]) =>
      draw(kept, quotas.get(value) ?? 0, (round) => random('mix', 'draw', value, round)),
    )
    yield* random('mix', 'order').shuffle(drawn)
  },
})

type Group = { kept: Row[]; seen: number }

// With n, a group holds no more rows than it can give (a reservoir); without it all, since shares depend on every count.
async function gather(
  rows: AsyncIterable<Row>,
  { key, weights, n, others }: Params,
  random: (...path: (string | number)[]) => Random,
  signal: AbortSignal,
): Promise<Map<string, Group>> {
  const total = Object.values(weights).reduce((sum, weight) => sum + weight, 0)
  const groups = new Map<string, Group>(Object.keys(weights).map((value) => [value, { kept: [], seen: 0 }]))
  const slots = new Map([...groups.keys()].map((value) => [value, random('mix', 'reservoir', value)]))
  for await (const row of rows) {
    signal.throwIfAborted()
    const value = String(fieldOf(row, key))
    const group = groups.get(value)
    if (group === undefined) {
      if (others === 'drop') continue
      throw rowError(row, `mix: "${key}" is "${value}", which has no weight`, suggest(value, Object.keys(weights)))
    }
    const most = n === undefined ? Number.POSITIVE_INFINITY : Math.ceil((n * (weights[value] ?? 0)) / total)
    if (group.seen < most) group.kept.push(row)
    else {
      const slot = slots.get(value)?.int(group.seen + 1) ?? 0
      if (slot < most) group.kept[slot] = row
    }
    group.seen++
  }
  return groups
}

function quotasOf(groups: ReadonlyMap<string, Group>, { key, weights, n, repeat }: Params): Map<string, number> {
  const sum = Object.values(weights).reduce((all, weight) => all + weight, 0)
  const shares = [...groups].map(([value, { seen }]) => ({ value, seen, share: (weights[value] ?? 0) / sum }))
  if (shares.every(({ seen }) => seen === 0)) return new Map()
  const none = shares.find(({ seen }) => seen === 0)
  if (none !== undefined) {
    throw new EvsysError('DATA_INVALID', `mix: no row has "${none.value}" in "${key}"`, {
      fix: `known: ${shares
        .filter(({ seen }) => seen > 0)
        .map(({ value }) => value)
        .join(', ')}; correct the weights.`,
    })
  }
  const total = n ?? Math.floor(Math.min(...shares.map(({ seen, share }) => seen / share)) + 1e-9)
  const quotas = largestRemainders(shares, total)
  for (const { value, seen } of shares) {
    const wanted = quotas.get(value) ?? 0
    if (wanted <= seen || repeat) continue
    if (n === undefined) quotas.set(value, seen)
    else {
      throw new EvsysError('DATA_INVALID', `mix: ${wanted} rows of "${value}" are wanted, and there are ${seen}`, {
        fix: 'lower n, or write `repeat: true` to take rows again.',
      })
    }
  }
  return quotas
}

// Whole rows that add up to the total: shares are rounded down, and what is left goes to the largest remainders.
function largestRemainders(shares: readonly { value: string; share: number }[], total: number): Map<string, number> {
  const exact = shares.map(({ value, share }) => ({
    value,
    whole: Math.floor(share * total + 1e-9),
    rest: (share * total) % 1,
  }))
  let left = total - exact.reduce((sum, { whole }) => sum + whole, 0)
  const quotas = new Map(exact.map(({ value, whole }) => [value, whole]))
  for (const { value, whole } of exact.toSorted((a, b) => b.rest - a.rest)) {
    if (left-- <= 0) break
    quotas.set(value, whole + 1)
  }
  return quotas
}

function draw(rows: readonly Row[], count: number, random: (round: number) => Random): Row[] {
  const drawn: Row[] = []
  for (let round = 0; drawn.length < count && rows.length > 0; round++) {
    for (const row of random(round)
      .shuffle(rows)
      .slice(0, count - drawn.length))
      drawn.push(row)
  }
  return drawn
}
