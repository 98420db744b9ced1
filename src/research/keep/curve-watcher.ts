// Ends single runs that will not make it. At a quarter and at half of the time the candidate's smoothed training curve is held against
// the incumbent's of the same seed. The gap that is allowed is learned from runs of the same family that ended near the incumbent: a
// family that starts slowly or ends in a cool-down is behind for long and wins at last, which the curves of others do not show. One in
// ten of the condemned runs continues all the same, and shows what killing costs.

import type { CurveSample, Direction } from '../../contracts/index.ts'
import { keyedRandom } from '../../kernel/index.ts'
import { meanOf, moments } from '../../stats/index.ts'
import { gainOf } from './measure-gain.ts'

/** Shares of the training time at which a run may be ended. */
export const curveChecks = [0.25, 0.5] as const

/** Finished runs that are watched before the first one is ended. */
export const curveWarmUp = 15

/** Runs of a family that ended near the incumbent before its others are held against them. */
export const leastOfFamily = 5

/** One condemned run in so many continues to its end. */
const auditEvery = 10

/** A run that was finished, or ended early. */
export interface WatchedRun {
  /** Of its candidate, as its author named it. */
  readonly family: string
  /** How far it was behind the incumbent at each of `curveChecks`, in units of the training metric; null where it had no point yet. */
  readonly gaps: readonly (number | null)[]
  /** Loss against the incumbent on the same seed in the score that counts, in sigmas; positive is worse. Absent: it was ended early. */
  readonly loss?: number | undefined
  /** It was condemned at some check: ended, or continued to audit. */
  readonly condemned: boolean
}

/** How far behind the incumbent a curve is at each check. `direction` is that of the training metric. */
export function curveGaps(options: {
  readonly direction: Direction
  readonly candidate: readonly CurveSample[]
  readonly incumbent: readonly CurveSample[]
  readonly trainSeconds: number
}): readonly (number | null)[] {
  const { direction, candidate, incumbent, trainSeconds } = options
  const last = candidate.at(-1)?.seconds ?? Number.NEGATIVE_INFINITY
  return curveChecks.map((share) => {
    const seconds = share * trainSeconds
    if (last < seconds) return null
    const own = smoothedAt(candidate, seconds)
    const other = smoothedAt(incumbent, seconds)
    return own === null || other === null ? null : gainOf(direction, other, own)
  })
}

export type CurveDecision = 'continue' | 'kill' | 'audit'

/** Whether a run continues. `audit`: it is condemned, and continues to show whether that was right. Equal seeds audit equally. */
export function decideCurve(
  { gaps, family }: Pick<WatchedRun, 'gaps' | 'family'>,
  history: readonly WatchedRun[],
  seed: number,
): CurveDecision {
  const finished = history.filter(({ loss }) => loss !== undefined)
  if (finished.length < curveWarmUp) return 'continue'
  const kin = finished.filter((run) => run.family === family)
  const condemned = gaps.some((gap, check) => {
    const allowed = allowedGap(check, kin)
    return gap !== null && allowed !== null && !(gap <= allowed)
  })
  if (!condemned) return 'continue'
  return auditOrKill(history, seed) === 'kill' ? 'kill' : 'audit'
}

/** What becomes of a run that is condemned: it is ended, or continues to show whether that would have been right. */
export function auditOrKill(history: readonly WatchedRun[], seed: number): 'continue' | 'kill' {
  return isAudited(history.filter((run) => run.condemned).length, seed) ? 'continue' : 'kill'
}

// One of every ten, and chance decides which: so each condemned run has an equal chance, and what audits show is true of all.
function isAudited(condemnedBefore: number, seed: number): boolean {
  const ten = Math.floor(condemnedBefore / auditEvery)
  return condemnedBefore % auditEvery === keyedRandom(seed, 'audited curve', ten).int(auditEvery)
}

/** Mean + 3 sd of the gaps of runs that ended within one sigma of the incumbent or better; null where they are too few. */
export function allowedGap(check: number, kin: readonly WatchedRun[]): number | null {
  const gaps = kin.flatMap(({ gaps: seen, loss }) => {
    const gap = seen[check]
    return loss !== undefined && loss <= 1 && gap !== null && gap !== undefined && Number.isFinite(gap) ? [gap] : []
  })
  if (gaps.length < leastOfFamily) return null
  const { mean, variance } = moments(gaps)
  return mean + 3 * Math.sqrt(variance ?? 0)
}

export interface CurveRegret {
  readonly killed: number
  readonly audited: number
  /** Audited runs that ended better than the incumbent: each stands for `auditEvery` - 1 good runs that were ended. */
  readonly wrong: number
  /** Mean gain in sigmas that ending a condemned run threw away, by the audit; 0 before the first audit. */
  readonly regret: number
}

/** What ending runs early has cost, as far as the audit shows. */
export function curveRegret(history: readonly WatchedRun[]): CurveRegret {
  const condemned = history.filter((run) => run.condemned)
  const losses = condemned.flatMap(({ loss }) => (loss === undefined ? [] : [loss]))
  return {
    killed: condemned.length - losses.length,
    audited: losses.length,
    wrong: losses.filter((loss) => loss < 0).length,
    regret: losses.length === 0 ? 0 : meanOf(losses.map((loss) => Math.max(0, -loss))),
  }
}

// Mean of the last tenth of the points up to a moment, at least three: single points jump. A value that is no number is the worst gap.
export function smoothedAt(curve: readonly CurveSample[], seconds: number): number | null {
  const before = curve.filter((sample) => sample.seconds <= seconds)
  if (before.length === 0) return null
  const recent = before.slice(-Math.max(3, Math.ceil(before.length / 10)))
  return meanOf(recent.map(({ value }) => value))
}
