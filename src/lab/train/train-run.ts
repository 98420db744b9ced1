// One run, from rows to scores: what a worker does with an assignment. It knows no process, no database and no expected
// answer; it tells events, asks for scores, and leaves where it is told to.
import { numSteps, SharedParams } from '../../algorithms/index.ts'
import type { Metrics, OpenRenderer, RunAssignment, StepAlgorithm, WholeRunAlgorithm } from '../../contracts/index.ts'
import { EvsysError, problemsOf, toRecord } from '../../kernel/index.ts'
import { CheckpointBook } from './checkpoint-book.ts'
import { loadRows } from './load-rows.ts'
import { openLoopCallbacks } from './loop-callbacks.ts'
import { type OpenModel, openModel } from './open-model.ts'
import { equip, type RunServices } from './run-context.ts'
import type { RunReporter } from './run-reporter.ts'
import { type AskScore, callbackScope, type RunScope, stepScope } from './run-scope.ts'
import { saveCheckpoint } from './save-checkpoint.ts'
import { scoreBenchmark } from './score-benchmark.ts'
import { trainingLoop } from './training-loop.ts'

export interface TrainRunOptions {
  readonly assignment: RunAssignment
  readonly services: RunServices
  readonly reporter: RunReporter
  readonly askScore: AskScore
  /** Aborted: save and leave. The services' signal, aborted: leave at once. */
  readonly stopping: AbortSignal
}

/** Does a run. A failure is told as its last event, not thrown; `interrupted` can be resumed. */
export async function trainRun(options: TrainRunOptions): Promise<'finished' | 'interrupted'> {
  const { services, reporter } = options
  const began = performance.now()
  try {
    const end = await attempt(options)
    if (end.interrupted) return 'interrupted'
    const { metrics, best_step } = end
    const wall_s = (performance.now() - began) / 1000
    await reporter.tell({
      type: 'run.finished',
      status: 'completed',
      metrics,
      wall_s,
      ...(best_step === undefined ? {} : { best_step }),
    })
  } catch (error) {
    if (services.signal.aborted) return 'interrupted'
    const [problem] = problemsOf(error)
    const record = problem === undefined ? new EvsysError('INTERNAL', 'unknown failure').toRecord() : toRecord(problem)
    const wall_s = (performance.now() - began) / 1000
    await reporter.tell({ type: 'run.finished', status: 'failed', metrics: {}, error: record, wall_s })
  }
  return 'finished'
}

type End = { interrupted: true } | { interrupted: false; metrics: Metrics; best_step?: number }

async function attempt(options: TrainRunOptions): Promise<End> {
  const { assignment, services, reporter } = options
  const { plugin: algorithm, context } = equip('algorithm', assignment.config.algorithm, services)
  if (!('buildBatch' in algorithm)) throw wholeRun(algorithm)
  const shared = SharedParams.parse(context.params)
  const { rows, hash } = await loadRows(assignment.config.data, algorithm.rowFormat, services)
  const steps = numSteps(rows.length, shared)
  const reopen = (uri: string | undefined) => open(options, shared, uri)
  const model = await reopen(assignment.resume?.uri)
  const scope = await openScope(options, shared, model)
  try {
    checkEngine(assignment, model)
    const { resume } = assignment
    await reporter.tell({
      type: 'run.started',
      config_hash: assignment.config_hash,
      attempt: assignment.attempt,
      engine_id: model.backend.engineId,
      num_steps: steps,
      ...(resume === undefined ? {} : { resumed_from_step: resume.step }),
    })
    await reporter.tell({ type: 'data.loaded', n_rows: rows.length, data_hash: hash })
    await scope.callbacks.call('onRunStart', callbackScope(assignment))
    await scope.callbacks.call(
      'onTrainData',
      callbackScope(assignment),
      rows.map((row) => ({ ...row })),
    )
    return await trainAndScore(scope, { algorithm, params: context.params, shared, rows, steps, reopen })
  } finally {
    await scope.callbacks[Symbol.asyncDispose]()
    await scope.model[Symbol.asyncDispose]()
  }
}

async function trainAndScore(
  scope: RunScope,
  options: {
    algorithm: StepAlgorithm
    params: unknown
    shared: SharedParams
    rows: Awaited<ReturnType<typeof loadRows>>['rows']
    steps: number
    reopen(uri: string | undefined): Promise<OpenModel>
  },
): Promise<End> {
  const { assignment, book } = scope
  const { steps } = options
  const firstStep = assignment.resume === undefined ? 0 : assignment.resume.step + 1
  const first = stepScope(assignment, firstStep, steps, () => {})
  await scope.callbacks.call('onTrainStart', first)
  // Callbacks that watch evaluations know again what they knew when the run was interrupted.
  for (const { benchmark, split, metrics } of assignment.past.evals) {
    await scope.callbacks.call('onEval', first, benchmark, split, metrics)
  }
  const loop = await trainingLoop(scope, { ...options, numSteps: steps, firstStep })
  if (loop.interrupted) return { interrupted: true }
  const last = Math.max(loop.lastStep, 0)
  await saveCheckpoint(scope, last, { numSteps: steps, sampler: true, final: true })
  const end = stepScope(assignment, last, steps, () => {})
  await scope.callbacks.call('onTrainEnd', end, book.at(last))

  const metrics: Metrics = { ...loop.metrics }
  const best = book.bestStep
  const weights = book.sampler(best ?? last) ?? (await scope.model.snapshot())
  for (const benchmark of assignment.benchmarks) {
    if (scope.stopping.aborted) return { interrupted: true }
    if (benchmark.run_every > 0) continue
    const scored = await scoreBenchmark(scope, benchmark, weights)
    for (const [name, value] of Object.entries(scored.metrics))
      metrics[`${benchmark.split}/${benchmark.name}/${name}`] = value
  }
  const finite = Object.entries(metrics).filter(([, value]) => Number.isFinite(value))
  return { interrupted: false, metrics: Object.fromEntries(finite), ...(best === undefined ? {} : { best_step: best }) }
}

async function openScope(options: TrainRunOptions, shared: SharedParams, model: OpenModel): Promise<RunScope> {
  const { assignment, services, reporter, askScore, stopping } = options
  const callbacks = await openLoopCallbacks([...assignment.callbacks, ...shared.callbacks], services)
  const book = new CheckpointBook(assignment.past.checkpoints, assignment.objective)
  for (const past of assignment.past.evals) {
    const selects = past.split === 'val' && past.benchmark === assignment.objective?.benchmark
    if (selects) book.judge(past.step, past.metrics)
  }
  const renderer = await openRenderer(assignment, shared, model, services)
  return { assignment, services, reporter, askScore, stopping, callbacks, book, renderer, model }
}

async function openRenderer(
  { config }: RunAssignment,
  shared: SharedParams,
  { backend }: OpenModel,
  services: RunServices,
): Promise<OpenRenderer> {
  const usual = backend.chatTemplate === undefined ? 'plain_chat' : 'chat_template'
  const kind = shared.renderer_name ?? config.model.renderer_name ?? usual
  const { plugin, context } = equip('renderer', { kind, params: {} }, services)
  const template = backend.chatTemplate === undefined ? {} : { chatTemplate: backend.chatTemplate }
  return plugin.open({ ...context, tokenizer: backend.tokenizer, ...template })
}

// A checkpoint of this run, or the weights that the run starts from.
function open(
  { assignment, services }: TrainRunOptions,
  shared: SharedParams,
  uri: string | undefined,
): Promise<OpenModel> {
  const { config, run_dir: runDir, start_weights } = assignment
  const { load_checkpoint_path, init_from_checkpoint } = config.model
  const start = start_weights ?? init_from_checkpoint
  const state = (address: string, optimizer: boolean) => ({ ref: { kind: 'state' as const, uri: address }, optimizer })
  const from =
    uri !== undefined
      ? state(uri, true)
      : load_checkpoint_path !== undefined
        ? state(load_checkpoint_path, true)
        : start !== undefined
          ? state(start, false)
          : undefined
  const loraRank = shared.lora_rank === 0 ? undefined : shared.lora_rank
  return openModel({ config, loraRank, runDir, services, from })
}

function checkEngine({ resume }: RunAssignment, { backend }: OpenModel): void {
  if (resume === undefined || resume.engine_id === backend.engineId) return
  throw new EvsysError(
    'BACKEND_FAILED',
    `the run was begun on engine ${resume.engine_id} and would go on on ${backend.engineId}: its numbers would not repeat`,
    { fix: 'resume with the version that began it, or start the experiment anew' },
  )
}

function wholeRun({ kind }: WholeRunAlgorithm): EvsysError {
  return new EvsysError(
    'PLUGIN_FAILED',
    `algorithm "${kind}" drives the whole run itself, which a run worker does not offer`,
    {
      fix: 'give it buildBatch instead of train',
    },
  )
}
