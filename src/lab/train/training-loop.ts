// The loop of a step algorithm: batch, gradients, update, save, evaluate; back to a checkpoint when training collapses.
import { learningRateAt, type SharedParams, saveMarks } from '../../algorithms/index.ts'
import type { Adam, Batch, Metrics, RowFormat, RowOf, StepAlgorithm, StepContext } from '../../contracts/index.ts'
import { boundary, EvsysError } from '../../kernel/index.ts'
import { createBatchOrder } from './batch-order.ts'
import { createCollapseGuard } from './collapse-guard.ts'
import { finishStep } from './finish-step.ts'
import { letGo } from './let-go.ts'
import { type RunScope, stepScope } from './run-scope.ts'
import { saveCheckpoint } from './save-checkpoint.ts'
import { startTraining } from './start-training.ts'
import { setupContext, stepContext } from './step-context.ts'

/** Roll-backs before a run is given up. */
const MOST_TRIPS = 3

export interface LoopOptions {
  readonly algorithm: StepAlgorithm
  readonly params: unknown
  readonly shared: SharedParams
  readonly rows: readonly RowOf[RowFormat][]
  readonly numSteps: number
  /** First step to do. */
  readonly firstStep: number
  /** Set where a callback asked to stop before the first step of this attempt. */
  readonly stopReason?: string | undefined
  /** Opens the model at a checkpoint, or at the start of the run. */
  reopen(from: string | undefined): Promise<RunScope['model']>
}

export type LoopEnd = { readonly lastStep: number; readonly metrics: Metrics; readonly interrupted: boolean }

export async function trainingLoop(scope: RunScope, options: LoopOptions): Promise<LoopEnd> {
  const { assignment, services, reporter } = scope
  const { shared, numSteps, algorithm } = options
  const marks = new Set(saveMarks(numSteps, shared))
  const guard = createCollapseGuard()
  const order = createBatchOrder(options.rows.length, (epoch) => services.random('batches', epoch))
  const kept = new Map<string, Promise<unknown>>()
  let trips = assignment.guard_trips
  let stopReason = options.stopReason
  let metrics: Metrics = assignment.past.metrics
  const contexts = { ...options, order, kept }
  const setup = setupContext(scope, contexts)
  if (algorithm.setup !== undefined)
    await attributed(scope, options, 'setup', () => algorithm.setup?.(setup) ?? Promise.resolve())

  let step = options.firstStep
  for (; step < numSteps && stopReason === undefined; step++) {
    if (scope.stopping.aborted) {
      if (step > options.firstStep) await saveCheckpoint(scope, step - 1, { numSteps, sampler: false })
      return { lastStep: step - 1, metrics, interrupted: true }
    }
    const at = stepScope(assignment, step, numSteps, (reason) => {
      stopReason ??= reason
    })
    const rate = learningRateAt(step, lrPlan(shared, numSteps)) * 0.5 ** trips
    const { context, release } = stepContext(scope, setup, contexts, step)
    const stepped = await trainStep(scope, options, context, adamOf(shared, rate))
    await release()
    metrics = { ...stepped, 'optim/lr': rate, 'progress/done_frac': (step + 1) / numSteps }

    const collapse = guard.look(stepped.train_mean_nll ?? stepped['loss:sum'])
    if (collapse !== undefined) {
      trips += 1
      const back = await rollBack(scope, options, step, { collapse, trips, rate })
      scope.evals = scope.evals.filter((each) => each.step <= back)
      await startTraining(scope, { firstStep: back + 1, numSteps }, () => {})
      guard.reset()
      kept.clear()
      step = back // the loop goes on with the step after it
      continue
    }
    const isBest = await finishStep(scope, at, metrics)
    // After the evaluations: a run that goes on from here has nothing to make up for.
    if (isBest || marks.has(step + 1)) {
      await saveCheckpoint(scope, step, { numSteps, sampler: isBest || shared.save_sampler })
    }
    await letGo(scope, scope.book.surplus(assignment.checkpoints_kept))
  }
  if (stopReason !== undefined)
    await reporter.tell({ type: 'notice', text: `stopped after step ${step}: ${stopReason}` })
  return { lastStep: step - 1, metrics, interrupted: false }
}

async function trainStep(
  scope: RunScope,
  options: LoopOptions,
  context: StepContext<unknown>,
  adam: Adam,
): Promise<Metrics> {
  const { algorithm } = options
  const built = await attributed(scope, options, 'buildBatch', () => algorithm.buildBatch(context))
  if (built.data.length === 0) return { ...built.metrics, 'train/skipped_empty_batch': 1 }
  const { result, optimizer } = await scope.model.step(built.data, built.loss, adam)
  const own = algorithm.stepMetrics?.({ ...context, built, result }) ?? {}
  return { ...result.metrics, ...own, ...optimizer, ...(built satisfies Batch).metrics }
}

async function rollBack(
  scope: RunScope,
  options: LoopOptions,
  step: number,
  { collapse, trips, rate }: { collapse: 'nan' | 'spike'; trips: number; rate: number },
): Promise<number> {
  if (trips > MOST_TRIPS) {
    throw new EvsysError(
      'RUN_DIVERGED',
      `training collapsed (${collapse}) at step ${step}, after ${MOST_TRIPS} roll-backs`,
      {
        fix: 'lower learning_rate, set grad_clip_norm, or look at the rows of that step',
      },
    )
  }
  const state = scope.book.stateBefore(step - 1)
  await scope.model[Symbol.asyncDispose]()
  scope.model = await options.reopen(state?.uri)
  scope.book.rollBackTo(state?.step ?? -1)
  await scope.reporter.tell({
    type: 'guard.tripped',
    step,
    reason: collapse,
    learning_rate: rate / 2,
    ...(state === undefined ? {} : { rolled_back_to: state.step }),
  })
  return state?.step ?? -1
}

function attributed<T>(
  { services }: RunScope,
  { algorithm }: LoopOptions,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  return boundary('PLUGIN_FAILED', `algorithm "${algorithm.kind}", ${what}`, services.signal, work)
}

function adamOf(shared: SharedParams, learningRate: number): Adam {
  return {
    learningRate,
    beta1: shared.adam_beta1,
    beta2: shared.adam_beta2,
    eps: shared.adam_eps,
    ...(shared.weight_decay === 0 ? {} : { weightDecay: shared.weight_decay }),
    ...(shared.grad_clip_norm === 0 ? {} : { gradClipNorm: shared.grad_clip_norm }),
  }
}

function lrPlan(shared: SharedParams, numSteps: number) {
  return {
    schedule: shared.lr_schedule,
    learningRate: shared.learning_rate,
    numSteps,
    warmupSteps: shared.lr_warmup_steps,
    minRatio: shared.lr_min_ratio,
  }
}
