// A run that its algorithm drives itself. The lab lends the service, takes in what is reported and saved, and keeps the rest of a
// run as it is for every other: callbacks, in-loop evaluations, the best checkpoint, leaving when asked to.

import type {
  CheckpointKind,
  Metrics,
  Ref,
  RefOf,
  RowFormat,
  RowOf,
  SaveOptions,
  TrainContext,
  TrainingService,
  WholeRunAlgorithm,
} from '../../contracts/index.ts'
import { RunAssignment, RunResult } from '../../contracts/index.ts'
import { boundary, EvsysError } from '../../kernel/index.ts'
import { createBatchOrder } from './batch-order.ts'
import { createLooks } from './looks.ts'
import { createPromptTrial } from './prompt-trial.ts'
import { createRollouts } from './rollouts.ts'
import { type RunScope, stepScope } from './run-scope.ts'
import { startTraining } from './start-training.ts'
import { createStopRequest } from './stop-request.ts'
import { tellStep } from './tell-step.ts'
import type { LoopEnd } from './training-loop.ts'

export interface WholeRunOptions {
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
    for (const { name, kind, ref } of artifacts) {
      await scope.reporter.tell({ type: 'notice', text: `left behind ${kind} "${name}": ${ref}` })
    }
    return { ...driven.end(), metrics: { ...driven.end().metrics, ...metrics }, interrupted: false }
  } catch (error) {
    if (stopping.aborted && !services.signal.aborted) return { ...driven.end(), interrupted: true }
    throw error
  } finally {
    await driven.rollouts.end()
  }
}

function drive(scope: RunScope, { params, rows, numSteps }: WholeRunOptions) {
  const { assignment, services, stopping, reporter, book, model } = scope
  let lastStep = -1
  let metrics: Metrics = {}
  let trained = false
  const stop = createStopRequest((step) => step)
  const looks = createLooks(scope)
  const rollouts = createRollouts(scope, ({ version }) => version ?? lastStep + 1)
  const service = model.lend()
  const order = createBatchOrder(rows.length, (epoch) => services.random('batches', epoch))

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
      await reporter.tell({ type: 'checkpoint.saved', step, kind: saved.kind, ref: uri, final: false })
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
      await rollouts.tell(at(step))
      await tellStep(scope, at(step), reported)
      await looks.begin(at(step))
      await looks.finish() // whoever drives the run waits for its scores: they may be what he goes by
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
