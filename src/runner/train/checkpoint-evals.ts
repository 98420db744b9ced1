// Evaluations while training continues. An evaluation takes the weights of its step and is answered and scored beside the steps
// that follow. What it leads to (the best checkpoint, callbacks, a request to stop) happens at fixed steps, whenever the answers
// arrive: at the next evaluation, at the next checkpoint, at the end. So the record does not depend on which was faster.
import type { CheckpointKind, Ref, SamplerRef, SealedBenchmark, StepScope } from '../../contracts/index.ts'
import type { Checkpoint } from './checkpoint-book.ts'
import { type RunScope, stepScope } from './run-scope.ts'
import { type BenchmarkEval, evaluateBenchmark, notifyCallbacks } from './score-benchmark.ts'

type CheckpointEvals = ReturnType<typeof createCheckpointEvals>

interface UnderWay {
  readonly at: StepScope
  readonly weights: SamplerRef
  readonly isCandidate: boolean
  readonly scoring: Promise<readonly BenchmarkEval[]>
  readonly waiting: SavedCheckpoint[]
}

export function createCheckpointEvals(scope: RunScope) {
  const { assignment, book, callbacks } = scope
  let underWay: UnderWay | undefined
  const dueAt = (step: number) =>
    assignment.benchmarks.filter(({ run_every }) => run_every > 0 && (step + 1) % run_every === 0)
  const selects = ({ name, split }: SealedBenchmark) => split === 'val' && name === assignment.objective?.benchmark

  /** True: the best on validation so far. */
  const takeIn = async (finished: BenchmarkEval, at: StepScope): Promise<boolean> => {
    const { benchmark, scored } = finished
    const { name, split } = benchmark
    if (scored.error !== undefined) {
      await notifyCallbacks(scope, finished)
      return false // nothing was measured: no score, and nothing to select by
    }
    scope.evals = [...scope.evals, { benchmark: name, split, step: at.step, metrics: scored.metrics }]
    await notifyCallbacks(scope, finished)
    await callbacks.call('onEval', at, name, split, scored.metrics)
    return selects(benchmark) && book.judge(at.step, scored.metrics)
  }

  return {
    isDue: (step: number) => dueAt(step).length > 0,
    /** Weights of the evaluation of this step that were saved to be chosen from. */
    candidate: (step: number) => (underWay?.isCandidate && underWay.at.step === step ? underWay.weights : undefined),
    /** Begins the evaluation of a step, if one is due. The one before has to be finished. */
    async begin(at: StepScope) {
      const due = dueAt(at.step)
      if (due.length === 0) return
      // All benchmarks of a step evaluate the same weights. They are saved, since it is another process that asks them, and kept if
      // they turn out to be the best.
      const isCandidate = due.some(selects)
      const weights = await scope.model.save(`eval_${checkpointName(at.step, assignment.attempt)}`, 'sampler')
      const scoring = inTurn(due, (benchmark) => evaluateBenchmark(scope, benchmark, weights, { step: at.step }))
      scoring.catch(() => {}) // thrown when it is waited for
      underWay = { at, weights, isCandidate, scoring, waiting: [] }
    },
    /** Waits for the evaluation that is under way, if there is one, and does what it leads to. */
    async finish() {
      if (underWay === undefined) return
      const { at, weights, scoring, waiting } = underWay
      let isBest = false
      try {
        for (const each of await scoring) if (await takeIn(each, at)) isBest = true
      } finally {
        underWay = undefined
      }
      if (isBest) await announceCheckpoint(scope, { ...weights, step: at.step, numSteps: at.numSteps })
      for (const saved of waiting) await announceCheckpoint(scope, saved)
      const isKept = isBest || waiting.some(({ uri }) => uri === weights.uri)
      if (!isKept) await scope.model.drop(weights satisfies Ref)
      if (isBest) await deleteCheckpoints(scope, book.surplus(assignment.checkpoints_kept))
    },
    /** Waits for the evaluation that is under way and does nothing with it: the run has failed. */
    async abandon() {
      await Promise.allSettled(underWay === undefined ? [] : [underWay.scoring])
    },
    /**
     * Reports a checkpoint once no evaluation of an earlier or the same step is under way: a run that resumes from a checkpoint has
     * nothing to make up for.
     */
    async announce(saved: SavedCheckpoint) {
      if (underWay === undefined) await announceCheckpoint(scope, saved)
      else underWay.waiting.push(saved)
    },
  }
}

/** The first step after this one at which evaluations are finished, whatever their answers: an evaluation, a checkpoint, the end. */
export function nextFixedStep(step: number, numSteps: number, isFixed: (step: number) => boolean): number {
  for (let next = step + 1; next < numSteps; next++) if (isFixed(next)) return next
  return numSteps - 1
}

async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (const item of items) results.push(await work(item))
  return results
}

/** Weights that are saved and not reported yet. */
type SavedCheckpoint = Ref & {
  readonly step: number
  readonly numSteps: number
  readonly final?: boolean | undefined
  /** It was reported before; now it is the end of the run as well. */
  readonly again?: boolean | undefined
}

interface SaveOptions {
  readonly numSteps: number
  readonly sampler: boolean
  readonly final?: boolean | undefined
  /** Under way while weights are saved: then the checkpoint is reported when they are over. */
  readonly evals?: CheckpointEvals | undefined
}

export async function saveCheckpoint(
  scope: RunScope,
  step: number,
  { numSteps, sampler, final = false, evals }: SaveOptions,
): Promise<void> {
  const { assignment, book, model } = scope
  const kinds: CheckpointKind[] = sampler ? ['sampler', 'state'] : ['state'] // the state last: a resume finds both
  for (const kind of kinds) {
    const known = book.uri(step, kind)
    if (known !== undefined && !final) continue
    const candidate = kind === 'sampler' ? evals?.candidate(step) : undefined
    const uri = known ?? candidate?.uri ?? (await model.save(checkpointName(step, assignment.attempt), kind)).uri
    const saved = { kind, uri, step, numSteps, final, again: known !== undefined }
    if (evals === undefined) await announceCheckpoint(scope, saved)
    else await evals.announce(saved)
  }
}

/** Enters a checkpoint in the book and reports it. */
async function announceCheckpoint(scope: RunScope, saved: SavedCheckpoint): Promise<void> {
  const { assignment, book, callbacks, reporter } = scope
  const { step, kind, uri, numSteps, final = false } = saved
  if (book.has(step, kind) && !final) return
  book.add({ step, kind, uri })
  await reporter.report({ type: 'checkpoint.saved', step, kind, ref: uri, final })
  if (saved.again === true) return // the end of the run coincides with a checkpoint: there is one, and it was reported
  const at = stepScope(assignment, step, numSteps, () => {})
  await callbacks.call('onCheckpoint', at, { kind, uri })
}

/** An attempt saves under separate names: what a crash left half done never stands in the way. */
function checkpointName(step: number, attempt: number): string {
  return attempt === 1 ? `step_${step + 1}` : `step_${step + 1}.${attempt}`
}

/** Deletes checkpoints that are no longer needed, and reports it. A service that keeps what it has leaves them in the record too. */
export async function deleteCheckpoints(scope: RunScope, checkpoints: readonly (Checkpoint & Ref)[]): Promise<void> {
  for (const each of checkpoints) {
    if (!(await scope.model.drop(each))) continue
    scope.book.drop(each)
    await scope.reporter.report({ type: 'checkpoint.dropped', step: each.step, kind: each.kind })
  }
}
