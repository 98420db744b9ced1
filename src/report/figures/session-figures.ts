// Everything that a report says of a session, as numbers. Gains are improvements, positive whatever the direction.
import type { Direction } from '../../contracts/index.ts'
import { racePrior } from '../../research/index.ts'
import { type EffectPrior, expectedFalseKeeps } from '../../stats/index.ts'
import type { ResearchReportInput } from '../research-report-input.ts'
import { type KeptChange, keptChange } from './kept-change.ts'
import { type NoiseFigures, noiseFigures } from './noise-figures.ts'
import { gainBetween, isKept, type PlacedAttempt, placeAttempts, sum } from './placed-attempt.ts'
import { type Spending, spendingOf } from './spending.ts'

export interface SessionFigures {
  readonly direction: Direction
  readonly placed: readonly PlacedAttempt[]
  readonly baseline?: PlacedAttempt
  /** What the session ends with; absent while nothing was kept. */
  readonly champion?: PlacedAttempt
  /** From the baseline to the champion, as measured in their races. */
  readonly rawGain?: number
  readonly kept: readonly KeptChange[]
  /** What is left of `rawGain` with the lucky part taken back: never more than it. Absent: not known. */
  readonly shrunkenGain?: number
  readonly prior: EffectPrior | null
  readonly expectedFalse?: number
  readonly noise: NoiseFigures
  readonly spending: Spending
}

export function sessionFigures(input: ResearchReportInput): SessionFigures {
  const { direction } = input.task
  const all = placeAttempts(input.attempts, input.succession)
  // Leaving a kept change out again is a check of it and no idea of its own.
  const placed = all.filter(({ attempt }) => attempt.mode !== 'ablate')
  const noise = noiseFigures(input)
  const tried = placed.flatMap(({ attempt, fate }) =>
    fate === 'baseline' || attempt.gain === undefined ? [] : [attempt.gain],
  )
  const prior = racePrior(tried)
  const kept = placed.filter(isKept).map((each) => keptChange(each, { prior, input }))
  const weighed = kept.flatMap(({ shrunk }) => shrunk ?? [])
  const baseline = placed.find(({ fate }) => fate === 'baseline')
  const champion = all.find(({ attempt }) => attempt.id === input.champion) ?? placed.findLast(isKept)
  const rawGain = gainBetween(baseline?.score, champion?.score, direction)
  const shrunkenGain = totalLeft(kept, rawGain, input)
  return {
    direction,
    placed,
    ...(baseline === undefined ? {} : { baseline }),
    ...(champion === undefined ? {} : { champion }),
    ...(rawGain === undefined ? {} : { rawGain }),
    kept,
    ...(shrunkenGain === undefined ? {} : { shrunkenGain }),
    ...(weighed.length === 0 ? {} : { expectedFalse: expectedFalseKeeps(weighed) }),
    prior,
    noise,
    spending: spendingOf(input),
  }
}

// Every incumbent was measured against the one before it, so the shrunken gains of those that led to the champion add up. What was
// left out again counts for nothing; nor does luck that seeds which came later have taken back already.
function totalLeft(
  kept: readonly KeptChange[],
  rawGain: number | undefined,
  { champion, succession }: ResearchReportInput,
): number | undefined {
  const last = champion === undefined ? -1 : (succession?.lastIndexOf(champion) ?? -1)
  const led = succession === undefined || last < 0 ? undefined : new Set(succession.slice(0, last + 1))
  const steps = kept.filter(
    ({ placed: { attempt, reported } }) => reported.ablation?.dropped !== true && led?.has(attempt.id) !== false,
  )
  const shrunk = steps.flatMap((step) => step.shrunk?.effect ?? [])
  if (rawGain === undefined || shrunk.length === 0) return undefined
  return Math.min(rawGain, sum(shrunk))
}
