// Has the machine changed? Now and then the incumbent runs once more on a fresh seed. Scores that leave its usual spread mean that
// something other than the candidates moved (a hot GPU, a new library, other data), and then no comparison with older runs is fair.

import { moments, normalCdf, tQuantile } from '../../stats/index.ts'
import { type SeedResult, valuesBySeed } from './measure-gain.ts'
import type { SessionNoise } from './session-noise.ts'

/** Experiments from one control to the next, where the settings do not say otherwise, and the longest time between two. */
const experimentsBetweenControls = 15
const secondsBetweenControls = 2 * 3600

/**
 * Whether the incumbent is to be run on a fresh seed (`freshSeeds`, path `['control', number]`). A keep brings a fresh seed as well, so
 * experiments count from the last of the two.
 */
export function controlDue(state: {
  readonly experiments: number
  /** Experiments when the last control ran, or 0. */
  readonly experimentsAtLast: number
  /** Experiments since the last keep; absent: none was kept. */
  readonly sinceKeep?: number | undefined
  readonly secondsSinceLast?: number | undefined
  /** Experiments from one control to the next; 0: none. Absent: 15. */
  readonly every?: number | undefined
}): boolean {
  const { experiments, experimentsAtLast, sinceKeep, secondsSinceLast = 0, every = experimentsBetweenControls } = state
  const since = Math.min(experiments - experimentsAtLast, sinceKeep ?? Number.POSITIVE_INFINITY)
  return every > 0 && (since >= every || (since > 0 && secondsSinceLast >= secondsBetweenControls))
}

interface ControlVerdict {
  /** True: comparisons pause, and the incumbent is measured again on a bank of fresh seeds. */
  readonly drift: boolean
  /** How far the control lies from the incumbent's mean, in standard deviations of such a difference. */
  readonly deviation: number
  readonly words: string
}

/** Assesses a control run by the scores that the incumbent had before. A control that failed is drift: it ran before. */
export function assessControl(options: {
  readonly control: number | null
  readonly incumbent: readonly SeedResult[]
  readonly noise: SessionNoise
}): ControlVerdict {
  const { control, incumbent, noise } = options
  const values = [...valuesBySeed(incumbent).values()]
  if (control === null || !Number.isFinite(control)) {
    const words = 'Drift: the incumbent failed when it was run again.'
    return { drift: true, deviation: Number.POSITIVE_INFINITY, words }
  }
  if (values.length === 0) return { drift: false, deviation: 0, words: 'No earlier score to hold the control against.' }
  const { mean } = moments(values)
  const deviation = (control - mean) / (noise.seedSd * Math.sqrt(1 + 1 / values.length))
  const limit = threeSigma(noise.seedDegreesOfFreedom)
  const drift = Math.abs(deviation) > limit
  const size = Math.abs(deviation) >= beyondCounting ? 'far' : `${Math.abs(deviation).toFixed(1)} sigma`
  const measured = `${size} ${deviation < 0 ? 'below' : 'above'} its mean (limit ${limit.toFixed(1)})`
  return {
    drift,
    deviation,
    words: drift
      ? `Drift: the incumbent on a fresh seed lies ${measured}. Comparisons pause until it is measured again.`
      : `Control: the incumbent on a fresh seed lies ${measured}.`,
  }
}

/** Sigmas from which their number says nothing: the task has no noise to count in. */
const beyondCounting = 1000

// As rare as 3 sigma of a known spread; further out while the spread is known from few seeds.
function threeSigma(df: number): number {
  return df === 0 ? Number.POSITIVE_INFINITY : tQuantile(normalCdf(3), df)
}
