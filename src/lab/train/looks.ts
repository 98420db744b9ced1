// Looks at benchmarks while training goes on. A look takes the weights of its step and is answered and scored beside the steps
// that follow. What it leads to (the best checkpoint, callbacks, a request to stop) happens at fixed steps, whenever the answers
// arrive: at the next look, at the next checkpoint, at the end. So the record does not depend on who was faster.
import type { Ref, SamplerRef, SealedBenchmark, StepScope } from '../../contracts/index.ts'
import { letGo } from './let-go.ts'
import type { RunScope } from './run-scope.ts'
import { announceCheckpoint, checkpointName, type SavedCheckpoint } from './save-checkpoint.ts'
import { type Look, lookAt, tellCallbacks } from './score-benchmark.ts'

export interface Looks {
  isDue(step: number): boolean
  /** Begins the look of a step, if one is due. The one before has to be finished. */
  begin(at: StepScope): Promise<void>
  /** Waits for the look that is under way, if there is one, and does what it leads to. */
  finish(): Promise<void>
  /** Waits for the look that is under way and does nothing with it: the run has failed. */
  abandon(): Promise<void>
  /**
   * Tells of a checkpoint once no look of an earlier or the same step is under way: a run that goes on from a checkpoint has
   * nothing to make up for.
   */
  announce(saved: SavedCheckpoint): Promise<void>
  /** Weights of the look of this step that were saved to be chosen from. */
  candidate(step: number): SamplerRef | undefined
}

interface UnderWay {
  readonly at: StepScope
  readonly weights: SamplerRef
  readonly isCandidate: boolean
  readonly scoring: Promise<readonly Look[]>
  readonly waiting: SavedCheckpoint[]
}

export function createLooks(scope: RunScope): Looks {
  const { assignment, book, callbacks } = scope
  let underWay: UnderWay | undefined
  const dueAt = (step: number) =>
    assignment.benchmarks.filter(({ run_every }) => run_every > 0 && (step + 1) % run_every === 0)
  const selects = ({ name, split }: SealedBenchmark) => split === 'val' && name === assignment.objective?.benchmark

  /** True: the best on validation so far. */
  const takeIn = async (look: Look, at: StepScope): Promise<boolean> => {
    const { benchmark, scored } = look
    const { name, split } = benchmark
    scope.evals = [...scope.evals, { benchmark: name, split, step: at.step, metrics: scored.metrics }]
    await tellCallbacks(scope, look)
    await callbacks.call('onEval', at, name, split, scored.metrics)
    return selects(benchmark) && book.judge(at.step, scored.metrics)
  }

  return {
    isDue: (step) => dueAt(step).length > 0,
    candidate: (step) => (underWay?.isCandidate && underWay.at.step === step ? underWay.weights : undefined),
    async begin(at) {
      const due = dueAt(at.step)
      if (due.length === 0) return
      // All benchmarks of a step look at the same weights. They are kept if they turn out to be the best.
      const isCandidate = due.some(selects)
      const weights = isCandidate
        ? await scope.model.save(`look_${checkpointName(at.step, assignment.attempt)}`, 'sampler')
        : await scope.model.snapshot()
      const scoring = inTurn(due, (benchmark) => lookAt(scope, benchmark, weights, at.step))
      scoring.catch(() => {}) // told when it is waited for
      underWay = { at, weights, isCandidate, scoring, waiting: [] }
    },
    async finish() {
      if (underWay === undefined) return
      const { at, weights, scoring, waiting } = underWay
      let isBest = false
      try {
        for (const look of await scoring) if (await takeIn(look, at)) isBest = true
      } finally {
        underWay = undefined
      }
      if (isBest) await announceCheckpoint(scope, { ...weights, step: at.step, numSteps: at.numSteps })
      for (const saved of waiting) await announceCheckpoint(scope, saved)
      const isKept = isBest || waiting.some(({ uri }) => uri === weights.uri)
      if (!isKept) await scope.model.drop(weights satisfies Ref)
      if (isBest) await letGo(scope, book.surplus(assignment.checkpoints_kept))
    },
    async abandon() {
      await Promise.allSettled(underWay === undefined ? [] : [underWay.scoring])
    },
    async announce(saved) {
      if (underWay === undefined) await announceCheckpoint(scope, saved)
      else underWay.waiting.push(saved)
    },
  }
}

/** The first step after this one at which looks are finished, whatever their answers: a look, a checkpoint, the end. */
export function nextFixedStep(step: number, numSteps: number, isFixed: (step: number) => boolean): number {
  for (let next = step + 1; next < numSteps; next++) if (isFixed(next)) return next
  return numSteps - 1
}

async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (const item of items) results.push(await work(item))
  return results
}
