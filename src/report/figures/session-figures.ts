// Everything that a report says of a session, as numbers. Gains are improvements, positive whatever the direction.
import type { Direction } from '../../contracts/index.ts'
import { type EffectPrior, effectPrior, expectedFalseKeeps } from '../../stats/index.ts'
import type { ResearchReportInput } from '../research-report-input.ts'
import { type KeptChange, keptChange } from './kept-change.ts'
import { type NoiseFigures, noiseFigures } from './noise-figures.ts'
import { effectOf, gainBetween, isKept, type PlacedAttempt, placeAttempts, sum } from './placed-attempt.ts'
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
  /** Sum of the shrunken gains of what was kept; absent where gains are not known. */
  readonly shrunkGain?: number
  readonly prior: EffectPrior | null
  readonly expectedFalse?: number
  readonly noise: NoiseFigures
  readonly spending: Spending
}

export function sessionFigures(input: ResearchReportInput): SessionFigures {
  const { direction } = input.task
  const all = placeAttempts(input.attempts)
  // Leaving a kept change out again is a check of it and no idea of its own.
  const placed = all.filter(({ attempt }) => attempt.mode !== 'ablate')
  const noise = noiseFigures(input)
  const tried = placed.flatMap(({ attempt, fate }) =>
    fate === 'baseline' || attempt.gain === undefined ? [] : [effectOf(attempt.gain)],
  )
  const prior = effectPrior(tried)
  const kept = placed.filter(isKept).map((each) => keptChange(each, { prior, input }))
  const weighed = kept.flatMap(({ shrunk }) => shrunk ?? [])
  const baseline = placed.find(({ fate }) => fate === 'baseline')
  const champion = all.find(({ attempt }) => attempt.id === input.champion) ?? placed.findLast(isKept)
  const rawGain = gainBetween(baseline?.score, champion?.score, direction)
  return {
    direction,
    placed,
    ...(baseline === undefined ? {} : { baseline }),
    ...(champion === undefined ? {} : { champion }),
    ...(rawGain === undefined ? {} : { rawGain }),
    kept,
    ...(weighed.length === 0
      ? {}
      : { shrunkGain: sum(weighed.map(({ effect }) => effect)), expectedFalse: expectedFalseKeeps(weighed) }),
    prior,
    noise,
    spending: spendingOf(input),
  }
}
