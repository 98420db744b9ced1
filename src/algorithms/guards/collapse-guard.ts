// Notices when training goes wrong: a loss that is no number, or one far above what the run has seen. Rolling back is the loop's
// work.
import type { Item, Metrics, RunAssignment } from '../../contracts/index.ts'

type Collapse = 'nan' | 'spike'

interface CollapseGuard {
  /** What is wrong with the loss of this step; undefined: nothing. */
  look(loss: number | undefined): Collapse | undefined
  /** Forgets the steps that are done again. */
  reset(): void
}

/** Losses that make up the normal range. */
const WINDOW = 20
/** A spike lies this many times the usual deviation above the median. Wide: a noisy batch must not undo work. */
const SPIKE_DEVIATIONS = 20
/** Least deviation: where nearly all is learnt, one hard row is many times the usual loss and no collapse. */
const LEAST_DEVIATION = 0.05

/** The loss of a step that is guarded: per token where the recipe reports it. A phase writes its label before it. */
export function guardedLoss(metrics: Metrics): number | undefined {
  const named = (name: string) => Object.entries(metrics).find(([key]) => key === name || key.endsWith(`/${name}`))?.[1]
  return named('train_mean_nll') ?? named('loss:sum')
}

/** `past`: losses of the steps before, for a resumed run; the guard knows again what it knew. */
export function createCollapseGuard(past: readonly number[] = []): CollapseGuard {
  let recent: number[] = past.slice(-WINDOW)
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
  return middle + SPIKE_DEVIATIONS * Math.max(deviation, 0.05 * Math.abs(middle), LEAST_DEVIATION)
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

// What the collapse guard knew at a step, from the events of a run: a run that resumes there notices a spike as one that was
// never interrupted would.
type StepLoss = RunAssignment['past']['losses'][number]

/** Losses of the newest steps up to `step`, oldest first. A roll-back forgets all; a new attempt forgets what it does again. */
export function pastLosses(events: readonly Item[], step: number): StepLoss[] {
  let known: StepLoss[] = []
  for (const event of events) {
    if (event.type === 'guard.tripped') {
      if (event.action !== 'record') known = []
    } else if (event.type === 'run.started') {
      const { resumed_from_step: kept = -1 } = event
      known = known.filter((each) => each.step <= kept)
    } else if (event.type === 'step.finished') {
      const loss = guardedLoss(event.metrics)
      if (loss !== undefined) known.push({ step: event.step, loss })
    }
  }
  return known.filter((each) => each.step <= step).slice(-WINDOW)
}
