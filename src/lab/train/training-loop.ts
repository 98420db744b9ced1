// The loop of a step algorithm: batch, gradients, update, save, evaluate; back to a checkpoint when training collapses.
import { learningRateAt, type SharedParams, saveMarks } from '../../algorithms/index.ts'
import type {
  Adam,
  Batch,
  Metrics,
  RowFormat,
  RowOf,
  SamplerRef,
  SetupContext,
  StepAlgorithm,
  StepContext,
  StepScope,
} from '../../contracts/index.ts'
import { boundary, EvsysError } from '../../kernel/index.ts'
import { type BatchOrder, createBatchOrder } from './batch-order.ts'
import { createCollapseGuard } from './collapse-guard.ts'
import { type RunScope, stepScope } from './run-scope.ts'
import { saveCheckpoint } from './save-checkpoint.ts'
import { scoreBenchmark } from './score-benchmark.ts'

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
  /** Opens the model at a checkpoint, or at the start of the run. */
  reopen(from: string | undefined): Promise<RunScope['model']>
}

export type LoopEnd = { readonly lastStep: number; readonly metrics: Metrics; readonly interrupted: boolean }

export async function trainingLoop(scope: RunScope, options: LoopOptions): Promise<LoopEnd> {
  const { assignment, services, reporter, callbacks } = scope
  const { shared, numSteps, algorithm } = options
  const marks = new Set(saveMarks(numSteps, shared))
  const guard = createCollapseGuard()
  const order = createBatchOrder(options.rows.length, (epoch) => services.random('batches', epoch))
  const kept = new Map<string, Promise<unknown>>()
  let trips = assignment.guard_trips
  let stopReason: string | undefined
  let metrics: Metrics = assignment.past.metrics
  const setup = setupContext(scope, options, order, kept)
  if (algorithm.setup !== undefined)
    await attributed(scope, options, 'setup', () => algorithm.setup?.(setup) ?? Promise.resolve())

  let step = options.firstStep
  for (; step < numSteps && stopReason === undefined; step++) {
    if (scope.stopping.aborted) {
      if (step > options.firstStep) await saveCheckpoint(scope, step - 1, { numSteps, sampler: shared.save_sampler })
      return { lastStep: step - 1, metrics, interrupted: true }
    }
    const at = stepScope(assignment, step, numSteps, (reason) => {
      stopReason ??= reason
    })
    const rate = learningRateAt(step, lrPlan(shared, numSteps)) * 0.5 ** trips
    const stepped = await trainStep(scope, options, stepContext(scope, setup, order, step), adamOf(shared, rate))
    metrics = { ...stepped, 'optim/lr': rate, 'progress/done_frac': (step + 1) / numSteps }

    const collapse = guard.look(stepped.train_mean_nll ?? stepped['loss:sum'])
    if (collapse !== undefined) {
      trips += 1
      const back = await rollBack(scope, options, step, { collapse, trips, rate })
      guard.reset()
      kept.clear()
      step = back // the loop goes on with the step after it
      continue
    }
    await reporter.tell({ type: 'step.finished', step, metrics: finite(metrics) })
    await callbacks.call('onStepEnd', at, metrics)
    const isBest = await lookAtBenchmarks(scope, step, at)
    // After the evaluations: a run that goes on from here has nothing to make up for.
    if (isBest || marks.has(step + 1)) {
      await saveCheckpoint(scope, step, { numSteps, sampler: isBest || shared.save_sampler })
    }
    await retain(scope)
  }
  if (stopReason !== undefined)
    await reporter.tell({ type: 'notice', text: `stopped after step ${step}: ${stopReason}` })
  return { lastStep: step - 1, metrics, interrupted: false }
}

/** Scores the benchmarks that are due. True: this step is the best so far on validation. */
async function lookAtBenchmarks(scope: RunScope, step: number, at: StepScope): Promise<boolean> {
  const { assignment, book, callbacks } = scope
  let isBest = false
  for (const benchmark of assignment.benchmarks) {
    if (benchmark.run_every === 0 || (step + 1) % benchmark.run_every !== 0) continue
    const scored = await scoreBenchmark(scope, benchmark, await scope.model.snapshot(), step)
    await callbacks.call('onEval', at, benchmark.name, benchmark.split, scored.metrics)
    const selects = benchmark.split === 'val' && benchmark.name === assignment.objective?.benchmark
    if (selects && book.judge(step, scored.metrics)) isBest = true
  }
  return isBest
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

async function retain(scope: RunScope): Promise<void> {
  for (const surplus of scope.book.surplus(scope.assignment.checkpoints_kept)) {
    if (!(await scope.model.drop(surplus))) continue
    scope.book.drop(surplus)
    await scope.reporter.tell({ type: 'checkpoint.dropped', step: surplus.step, kind: surplus.kind })
  }
}

function setupContext(
  { services, renderer, model, assignment }: RunScope,
  { params, rows, numSteps }: LoopOptions,
  order: BatchOrder,
  kept: Map<string, Promise<unknown>>,
): SetupContext<unknown> {
  return {
    params,
    signal: services.signal,
    random: services.random,
    log: services.log,
    secret: () => {
      throw new EvsysError('SECRET_MISSING', 'an algorithm has no secrets')
    },
    numSteps,
    rows,
    batch: (size) => order.rowsOf(0, size).flatMap((i) => rows[i] ?? []),
    renderer,
    tokenizer: model.backend.tokenizer,
    policy: () => model.snapshot(),
    reference: { baseModel: assignment.config.model.name },
    rollout: async () => {
      throw new EvsysError('PLUGIN_FAILED', 'this version of evsys has no rollout engine', {
        fix: 'use an algorithm that trains on rows',
      })
    },
    service: model,
    once<T>(key: string, make: () => Promise<T>): Promise<T> {
      const known = kept.get(key) as Promise<T> | undefined // one key, one maker: the algorithm's own
      const made = known ?? make()
      kept.set(key, made)
      return made
    },
  }
}

function stepContext(
  scope: RunScope,
  setup: SetupContext<unknown>,
  order: BatchOrder,
  step: number,
): StepContext<unknown> {
  let policy: Promise<SamplerRef> | undefined
  return {
    ...setup,
    step,
    batch: (size) => order.rowsOf(step, size).flatMap((i) => setup.rows[i] ?? []),
    service: scope.model,
    policy: () => {
      policy ??= scope.model.snapshot()
      return policy
    },
  }
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

// A metric that is no number says nothing a chart could show; the guard has seen the loss already.
function finite(metrics: Metrics): Metrics {
  return Object.fromEntries(Object.entries(metrics).filter(([, value]) => Number.isFinite(value)))
}
