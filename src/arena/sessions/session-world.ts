// Where whole sessions are played: candidates are configurations in one file, their true worth is known, and a run is their worth with
// noise. Tables of finished trainings have the noise of their seeds; over the worth of a table that was made, noise is of a kind.
import type { CandidateFiles, Direction, KnobSpec, Knobs, RunOutcome } from '../../contracts/index.ts'
import { type KeyedRandom, keyedRandom } from '../../kernel/index.ts'
import { type SearchTable, spaceOf, stridesOf, tableTruth } from '../tables/search-table.ts'

type Scored = Extract<RunOutcome, { status: 'scored' | 'failed' }>

export interface SessionWorld {
  readonly name: string
  readonly direction: Direction
  readonly space: Readonly<Record<string, KnobSpec>>
  /** Seeds of the task, where it has some. */
  readonly seeds: readonly number[]
  /** There are fresh seeds and a hidden split, so gains can be confirmed. */
  readonly hidden: boolean
  /** Where a session begins. */
  start(random: KeyedRandom): CandidateFiles
  /** One run in a session; equal arguments give equal scores. */
  run(knobs: Knobs, seed: number, split: 'val' | 'test', session: number): Scored
  /** True worth, more is better. */
  merit(knobs: Knobs): number
  /** Of all true worths, best first. */
  readonly sorted: Float64Array
}

/** Of one size everywhere, a share of the loss, or that of which items a split has, with a little of the seed. */
export const sessionNoises = ['absolute', 'relative', 'items'] as const
type SessionNoiseKind = (typeof sessionNoises)[number]

/** Share of the loss that a seed moves it by. */
const relativeSd = 0.05
/** Items of a split, and what a seed does to the chance of each beside its own draw. */
const itemCount = 120
const seedShare = 0.01
/** Noise of a seed, of the way from the median to the best. */
const absoluteShare = 0.05

/** A table as it is: a seed is one of its trainings. */
export function tableSessions(table: SearchTable): SessionWorld {
  const { seeds, values } = table
  const shared = common(table)
  const isWhole = (config: number) => values.subarray(config * seeds, (config + 1) * seeds).every(Number.isFinite)
  const starts = shared.starts.filter(isWhole)
  return {
    ...shared,
    // A session whose baseline does not run ends before it begins.
    start: (random) => filesOf(table, random.derive('start').pick(starts.length > 0 ? starts : shared.starts)),
    name: table.name,
    seeds: Array.from({ length: Math.min(3, seeds) }, (_, seed) => seed),
    hidden: false,
    run(knobs, seed) {
      const config = configOf(table, knobs)
      const value = values[config * seeds + (Math.abs(seed) % seeds)] ?? Number.NaN
      return Number.isFinite(value) ? scored(value) : failed
    },
  }
}

/** The true worths of a table, as losses between 0 and 1 on which chance of a kind is laid; no two runs are alike. */
export function noisySessions(table: SearchTable, kind: SessionNoiseKind): SessionWorld {
  const shared = common(table)
  const { sorted, meritAt } = shared
  const unit = lossOf(sorted, sorted[sorted.length >> 1] ?? 0)
  return overLosses(table, `${table.name}/${kind}`, kind, unit, (config) => lossOf(sorted, meritAt(config)))
}

/** Nothing that can be changed does anything: whatever is confirmed is confirmed falsely. */
export function nullSessions(table: SearchTable, kind: SessionNoiseKind): SessionWorld {
  return overLosses(table, `null/${kind}`, kind, nullLoss, () => nullLoss)
}

const nullLoss = 0.3

function overLosses(
  table: SearchTable,
  name: string,
  kind: SessionNoiseKind,
  unit: number,
  losses: (config: number) => number,
): SessionWorld {
  const shared = common(table)
  return {
    ...shared,
    name,
    direction: 'min',
    merit: (knobs) => -losses(configOf(table, knobs)),
    sorted: Float64Array.from({ length: shared.sorted.length }, (_, config) => -losses(config))
      .sort()
      .reverse(),
    seeds: [],
    hidden: true,
    run(knobs, seed, split, session) {
      const config = configOf(table, knobs)
      const loss = losses(config)
      const luck = keyedRandom(session, name, 'luck', split, seed, config)
      const common = keyedRandom(session, name, 'seed', split, seed).normal()
      const own = Math.sqrt(0.2) * common + Math.sqrt(0.8) * luck.normal()
      if (kind === 'absolute') return { ...scored(loss + absoluteShare * unit * own), items: 'fresh' }
      if (kind === 'relative') return { ...scored(loss * Math.max(0.01, 1 + relativeSd * own)), items: 'fresh' }
      return itemRun({ loss, own, split, session, name, config })
    },
  }
}

// Which items a candidate gets wrong is mostly its own doing, and of a few a seed decides: the hidden split has others.
function itemRun(of: {
  loss: number
  own: number
  split: string
  session: number
  name: string
  config: number
}): Scored {
  const { loss, own, split, session, name, config } = of
  const hard = keyedRandom(session, name, 'items', split)
  const draw = keyedRandom(session, name, 'answers', split, config)
  const chance = loss + seedShare * own
  const items = Array.from({ length: itemCount }, () => {
    // What is hard is hard for all: three quarters of a place in the order are the item's.
    const place = 0.75 * hard.float() + 0.25 * draw.float()
    return Number(cumulative(place) < chance)
  })
  return { ...scored(items.reduce((sum, each) => sum + each, 0) / itemCount), items }
}

// Of 0.75 u + 0.25 v: so that the share of wrong items is the loss on the mean.
function cumulative(x: number): number {
  if (x < 0.25) return (x * x) / (2 * 0.75 * 0.25)
  if (x < 0.75) return (x - 0.125) / 0.75
  return 1 - (1 - x) ** 2 / (2 * 0.75 * 0.25)
}

function common(table: SearchTable) {
  const { merits, starts } = tableTruth(table)
  const sorted = merits
    .filter((merit) => !Number.isNaN(merit))
    .sort()
    .reverse()
  return {
    direction: table.direction,
    space: spaceOf(table),
    sorted,
    starts,
    meritAt: (config: number) => merits[config] ?? Number.NaN,
    merit: (knobs: Knobs) => merits[configOf(table, knobs)] ?? Number.NaN,
    start: (random: KeyedRandom) => filesOf(table, random.derive('start').pick(starts)),
  }
}

// From 0.0005 for the best to about 0.7: by ranks, so that every table has the same losses to offer, few of them good.
function lossOf(sorted: Float64Array, merit: number): number {
  const best = sorted[0] ?? 0
  const low = sorted[Math.floor(sorted.length * 0.95)] ?? best
  const share = Math.min(1, Math.max(0, (best - merit) / (best - low || 1)))
  return 0.0005 + 0.7 * share ** 1.5
}

function filesOf(table: SearchTable, config: number): CandidateFiles {
  const strides = stridesOf(table)
  const knobs = Object.fromEntries(
    table.axes.map(({ name, values }, axis) => [
      name,
      values[Math.floor(config / (strides[axis] ?? 1)) % values.length] ?? '',
    ]),
  )
  return { 'config.json': `${JSON.stringify(knobs, null, 2)}\n` }
}

function configOf({ axes }: SearchTable, knobs: Knobs): number {
  let config = 0
  for (const { name, values } of axes) config = config * values.length + values.indexOf(knobs[name] ?? '')
  return config
}

function scored(value: number): Extract<RunOutcome, { status: 'scored' }> {
  return { status: 'scored', value, secondary: {}, wallS: 0, level: 'in-process' }
}

const failed: Scored = {
  status: 'failed',
  failure: { class: 'divergence', reason: 'there is no result for this configuration and seed' },
  wallS: 0,
}
