// Notices when training goes wrong: a loss that is no number, or one far above what the run has seen. It only looks; rolling
// back is the loop's work.

export type Collapse = 'nan' | 'spike'

export interface CollapseGuard {
  /** What is wrong with the loss of this step; undefined: nothing. */
  look(loss: number | undefined): Collapse | undefined
  /** Forgets the steps that are done again. */
  reset(): void
}

/** Losses that make up the normal range. */
const WINDOW = 20
/** A spike lies this many times the usual deviation above the median. Wide: a noisy batch must not undo work. */
const SPIKE_DEVIATIONS = 20

export function createCollapseGuard(): CollapseGuard {
  let recent: number[] = []
  return {
    look(loss) {
      if (loss === undefined) return undefined
      if (!Number.isFinite(loss)) return 'nan'
      const isSpike = recent.length >= WINDOW && loss > limitOf(recent)
      if (isSpike) return 'spike'
      recent = [...recent.slice(-(WINDOW - 1)), loss]
      return undefined
    },
    reset() {
      recent = []
    },
  }
}

// Median and median deviation: a spike that got in does not widen the range for the next one.
function limitOf(losses: readonly number[]): number {
  const middle = median(losses)
  const deviation = median(losses.map((loss) => Math.abs(loss - middle)))
  return middle + SPIKE_DEVIATIONS * Math.max(deviation, 0.05 * Math.abs(middle), 1e-6)
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
