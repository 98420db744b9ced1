// A run that its algorithm drives itself. The lab lends the service, takes in what is reported and saved, and keeps the rest of a
// run as it is for every other: callbacks, in-loop evaluations, the best checkpoint, leaving when asked to.

import { SharedParams } from '../../algorithms/index.ts'
import {
  type CheckpointKind,
  type Metrics,
  type PromptTrial,
  type Ref,
  type RefOf,
  type RowFormat,
  type RowOf,
  RunAssignment,
  RunResult,
  type SaveOptions,
  type StepScope,
  type TrainContext,
  type TrainingService,
  type WholeRunAlgorithm,
} from '../../contracts/index.ts'
import { boundary, EvsysError } from '../../kernel/index.ts'
import { createCheckpointEvals } from './checkpoint-evals.ts'
import { createRollouts } from './rollouts.ts'
import { createStopRequest, reportStep, type StopRequest, startTraining } from './run-progress.ts'
import { type RunScope, stepScope } from './run-scope.ts'
import { evaluateBenchmark, notifyCallbacks } from './score-benchmark.ts'
import { createBatchOrder } from './step-context.ts'
import type { LoopEnd } from './training-loop.ts'

interface WholeRunOptions {
  readonly algorithm: WholeRunAlgorithm
  readonly params: unknown
  readonly rows: readonly RowOf[RowFormat][]
  readonly numSteps: number
}

/** `trained`: the optimiser moved, so that there are weights to save. */
export type WholeRunEnd = LoopEnd & { readonly trained: boolean }

/** An attempt at a run that its algorithm drives has no past. */
export function withoutPast({ resume: _resume, ...assignment }: RunAssignment): RunAssignment {
  return { ...assignment, guard_trips: 0, past: RunAssignment.shape.past.parse(undefined) }
}

export async function wholeRun(scope: RunScope, options: WholeRunOptions): Promise<WholeRunEnd> {
  const { services, stopping } = scope
  const { algorithm } = options
  const driven = drive(scope, options)
  await startTraining(scope, { firstStep: 0, numSteps: options.numSteps }, driven.stop)
  try {
    const result = await boundary('PLUGIN_FAILED', `algorithm "${algorithm.kind}", train`, driven.context.signal, () =>
      algorithm.train(driven.context),
    )
    const { metrics, artifacts } = checkResult(algorithm, result)
    for (const artifact of artifacts) {
      const ref = artifact.ref.length <= longestRef ? artifact.ref : `${artifact.ref.slice(0, longestRef)}...`
      const text = `left ${artifact.kind} "${artifact.name}": ${ref}`
      await scope.reporter.report({ type: 'notice', text, artifact })
    }
    return { ...driven.end(), metrics: { ...driven.end().metrics, ...metrics }, interrupted: false }
  } catch (error) {
    if (stopping.aborted && !services.signal.aborted) return { ...driven.end(), interrupted: true }
    throw error
  } finally {
    await driven.rollouts.end()
  }
}

/** Characters of an address that a notice shows; some artifacts hold their content in it. */
const longestRef = 300

/** A recipe without batches need not take it. */
const GivenOrder = SharedParams.pick({ row_order: true })

function drive(scope: RunScope, { params, rows, numSteps }: WholeRunOptions) {
  const { assignment, services, stopping, reporter, book, model } = scope
  let lastStep = -1
  let metrics: Metrics = {}
  let trained = false
  const stop = createStopRequest((step) => step)
  const evals = createCheckpointEvals(scope)
  const rollouts = createRollouts(scope, ({ version }) => version ?? lastStep + 1)
  const { service } = model
  const rowOrder = GivenOrder.safeParse(params).data?.row_order
  const order = createBatchOrder(rows.length, (epoch) => services.random('batches', epoch), rowOrder)

  const lent: TrainingService = {
    ...service,
    optimStep(...request) {
      trained = true
      return service.optimStep(...request)
    },
    async save<K extends CheckpointKind>(id: string, name: string, how: SaveOptions<K>): Promise<RefOf<K>> {
      const ref = await service.save(id, name, how)
      const step = Math.max(lastStep, 0)
      const { uri } = ref
      const saved: Ref = how.kind === 'state' ? { kind: 'state', uri } : { kind: 'sampler', uri }
      book.add({ step, ...saved })
      await reporter.report({ type: 'checkpoint.saved', step, kind: saved.kind, ref: uri, final: false })
      await scope.callbacks.call('onCheckpoint', at(step), saved)
      return ref
    },
  }
  const at = (step: number) => stepScope(assignment, step, numSteps, stop.now(step))
  const advance = (step: number) => {
    if (!Number.isSafeInteger(step) || step <= lastStep) {
      throw new EvsysError('PLUGIN_FAILED', `step ${step} is reported after step ${lastStep}`, {
        fix: 'report steps in order, counted from 0.',
      })
    }
    stopping.throwIfAborted()
    lastStep = step
  }
  const context: TrainContext<unknown> = {
    params,
    signal: AbortSignal.any([services.signal, stopping]),
    random: services.random,
    log: services.log,
    secret: () => {
      throw new EvsysError('SECRET_MISSING', 'an algorithm has no secrets')
    },
    numSteps,
    rows,
    batch: (size) => order.rowsOf(Math.max(0, lastStep + 1), size).flatMap((i) => rows[i] ?? []),
    renderer: scope.renderer,
    tokenizer: model.backend.tokenizer,
    reference: scope.reference,
    base: { baseModel: assignment.config.model.name },
    others: scope.others,
    rollout: rollouts.rollout,
    prompts: createPromptTrial(scope, { at, advance, stop }),
    runId: assignment.run_id,
    run: assignment.config,
    modelId: model.backend.modelId,
    service: lent,
    async report(step, reported) {
      advance(step)
      metrics = reported
      await rollouts.report(at(step))
      await reportStep(scope, at(step), reported)
      await evals.begin(at(step))
      await evals.finish() // the algorithm waits for its scores: it may decide by them
      return stop.reason
    },
  }
  return { context, stop, rollouts, end: () => ({ lastStep, metrics, trained, interrupted: false }) }
}

// What a plugin returns is checked like everything else that comes from outside.
function checkResult({ kind }: WholeRunAlgorithm, result: unknown): RunResult {
  const checked = RunResult.safeParse(result)
  if (!checked.success) {
    throw new EvsysError('PLUGIN_FAILED', `algorithm "${kind}", train: it returned what is no result of a run`, {
      cause: checked.error,
      fix: 'return { run_id, status, metrics, artifacts }.',
    })
  }
  const { status, error } = checked.data
  if (status === 'completed') return checked.data
  throw error === undefined
    ? new EvsysError('PLUGIN_FAILED', `algorithm "${kind}" ended with the status ${status}`)
    : new EvsysError(error.code, error.message, error.fix === undefined ? {} : { fix: error.fix })
}

// System prompts tried on validation. Each try is a step of the run: answered by the weights that the run has, scored in the scorer,
// compared like a checkpoint. Test benchmarks are out of reach until a prompt is chosen.
interface PromptTrialOptions {
  at(step: number): StepScope
  /** Refuses a step that is out of order, or any when the run has to leave. */
  advance(step: number): void
  readonly stop: StopRequest
}

function createPromptTrial(scope: RunScope, { at, advance, stop }: PromptTrialOptions): PromptTrial {
  const { assignment, book, callbacks } = scope
  return {
    async validate(step, systemPrompt) {
      const { objective, benchmarks } = assignment
      const benchmark = benchmarks.find(({ name, split }) => split === 'val' && name === objective?.benchmark)
      if (benchmark === undefined || objective === undefined) {
        const message = 'prompts are chosen on validation, and no objective names a val benchmark'
        const fix = 'declare a benchmark with split: val, and metadata.objective: { metric: val.pass@1 }.'
        throw new EvsysError('CONFIG_OBJECTIVE', message, { fix })
      }
      advance(step)
      const evaluated = await evaluateBenchmark(scope, benchmark, scope.reference, { step, systemPrompt })
      const { metrics } = evaluated.scored
      const { name, split } = benchmark
      scope.evals = [...scope.evals, { benchmark: name, split, step, metrics }]
      await notifyCallbacks(scope, evaluated)
      await callbacks.call('onEval', at(step), name, split, metrics)
      const score = metrics[objective.metric] ?? Number.NaN
      await reportStep(scope, at(step), { 'prompt/score': score })
      return { score, metrics, isBest: book.judge(step, metrics), stop: stop.reason }
    },
    use(systemPrompt) {
      scope.systemPrompt = systemPrompt
    },
  }
}
