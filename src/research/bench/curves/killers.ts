// Who ends runs early: the watcher of the loop, and what others do at the same moments. A curve is a loss.
import { type CurveDecision, decideCurve } from '../../judge/curve-watcher.ts'

/** A run as far as it has come: what a killer may know at a check. */
export interface RunSoFar {
  /** As its author named it. */
  readonly family: string
  /** Smoothed loss at each check that is over. */
  readonly losses: readonly number[]
  /** How far it is behind the incumbent of the same seed there; null at checks to come. */
  readonly gaps: readonly (number | null)[]
}

/** A run that is over. `loss` is against the incumbent, in sigmas; absent: it was ended. */
export interface RunOver extends RunSoFar {
  readonly loss?: number
  readonly condemned: boolean
}

export interface Killer {
  readonly kind: string
  decide(run: RunSoFar, history: readonly RunOver[], seed: number): CurveDecision
}

/** Nobody. */
const none: Killer = { kind: 'none', decide: () => 'go on' }

/** That of the loop. */
const watcher: Killer = {
  kind: 'watcher',
  decide: decideCurve,
}

/** Finished runs before the first one is ended, as in Optuna. */
const startUp = 5

/** As Optuna's MedianPruner: its best loss so far is above the median of finished runs at the same check. */
const median: Killer = {
  kind: 'median',
  decide({ losses }, history) {
    const check = losses.length - 1
    const others = history.flatMap(({ losses, loss }) => (loss === undefined ? [] : (losses[check] ?? [])))
    return others.length >= startUp && Math.min(...losses) > medianOf(others) ? 'kill' : 'go on'
  },
}

/** Of the runs that reach a check, one in so many goes on. */
const reduction = 2

/** As ASHA: only what is among the best half of all that came to the same check goes on. */
const halving: Killer = {
  kind: 'halving',
  decide({ losses }, history) {
    const check = losses.length - 1
    const own = losses[check] ?? Number.NaN
    const all = [own, ...history.flatMap(({ losses }) => losses[check] ?? [])].sort((a, b) => a - b)
    const last = all[Math.max(1, Math.floor(all.length / reduction)) - 1] ?? own
    return own > last ? 'kill' : 'go on'
  },
}

export const killers: readonly Killer[] = [watcher, none, median, halving]

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2
}
