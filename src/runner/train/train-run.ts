// One run, from rows to scores: what a worker does with an assignment. It knows no process, no database and no expected
// answer; it reports events, asks for scores, and leaves where it is asked to.
import { isAbsolute } from 'node:path'
import { numSteps, SharedParams } from '../../algorithms/index.ts'
import {
  type Algorithm,
  agentOf,
  type ErrorRecord,
  FailureTally,
  type Metrics,
  type RowFormat,
  type RowOf,
  type RunAssignment,
  type RunConfig,
} from '../../contracts/index.ts'
import { EvsysError, errorRecord, loadExport, type Registry } from '../../kernel/index.ts'
import { deleteCheckpoints, saveCheckpoint } from './checkpoint-evals.ts'
import { type WholeRunEnd, wholeRun, withoutPast } from './custom-training.ts'
import { type LoopCallbacks, openLoopCallbacks } from './loop-callbacks.ts'
import { openRun, reopenModel, type TrainRunOptions } from './open-run.ts'
import { type Phase, planPhases } from './phases.ts'
import { equip, loadAllRows } from './run-context.ts'
import { finite } from './run-progress.ts'
import { callbackScope, type RunReporter, type RunScope, stepScope } from './run-scope.ts'
import { type BenchmarkEval, scoreBenchmark } from './score-benchmark.ts'
import { type LoopOptions, savedSteps, trainingLoop } from './training-loop.ts'

/** Does a run. A failure is reported as its last event, not thrown; `interrupted` can be resumed. */
export async function trainRun(options: TrainRunOptions): Promise<'finished' | 'interrupted'> {
  const { assignment, reporter } = options
  const began = performance.now()
  const tally = new FailureTally(assignment.past.failures)
  let cost_usd: number | undefined
  const onCost = (usd: number) => {
    cost_usd = (cost_usd ?? 0) + usd
  }
  const counting: RunReporter = {
    report(event) {
      tally.take(event)
      // Said while it runs: a cap on money is kept before the end.
      return reporter.report(event.type === 'step.finished' ? { ...event, spent_usd: cost_usd } : event)
    },
    mark(mark, scored) {
      const { benchmark, step } = mark
      const split = assignment.benchmarks.find(({ name }) => name === benchmark)?.split ?? 'val'
      if (scored !== undefined) tally.take({ type: 'eval.finished', benchmark, split, step, ...scored })
      return reporter.mark(mark)
    },
  }
  const failures = () => {
    const counts = tally.counts()
    return counts.length === 0 ? undefined : counts
  }
  try {
    const end = await attempt({ ...options, reporter: counting, tally, onCost })
    if (end.interrupted) return 'interrupted'
    const { metrics, best_step } = end
    const wall_s = (performance.now() - began) / 1000
    const finished = { type: 'run.finished', status: 'completed', metrics, wall_s, best_step, cost_usd } as const
    await reporter.report({ ...finished, failures: failures() })
  } catch (thrown) {
    if (isInterrupted(thrown, options)) return 'interrupted'
    const wall_s = (performance.now() - began) / 1000
    const finished = { type: 'run.finished', status: 'failed', metrics: {}, wall_s, cost_usd } as const
    await reporter.report({ ...finished, error: errorRecord(thrown), failures: failures() })
  }
  return 'finished'
}

const gone: ReadonlySet<string> = new Set(['BACKEND_FAILED', 'WORKER_DIED'])

// A run that was asked to stop cannot save where its service is gone: it is resumed from its last checkpoint.
function isInterrupted(error: unknown, { services, stopping }: TrainRunOptions): boolean {
  if (services.signal.aborted) return true
  return stopping.aborted && EvsysError.is(error) && gone.has(error.code) && error.retryable === true
}

type CountedOptions = TrainRunOptions & { readonly tally: FailureTally }

type End = { interrupted: true } | { interrupted: false; metrics: Metrics; best_step?: number | undefined }

interface Recipe {
  readonly algorithm: Algorithm
  readonly params: unknown
  readonly shared: SharedParams
}

// Callbacks are opened first and closed last: whatever becomes of the run, those that saw it start see it end.
async function attempt(given: CountedOptions): Promise<End> {
  const { config, project_dir } = given.assignment
  const registry = await withAgentFile(given.services.registry, config, project_dir)
  const options = { ...given, services: { ...given.services, registry } }
  const { services } = options
  const { plugin: algorithm, context } = equip('algorithm', options.assignment.config.algorithm, services)
  const shared = SharedParams.parse(context.params)
  const assignment = 'train' in algorithm ? withoutPast(options.assignment) : options.assignment
  const scope = callbackScope(assignment)
  const specs = [...assignment.callbacks, ...shared.callbacks]
  await using callbacks = await openLoopCallbacks(specs, services, assignment.log_store)
  await callbacks.call('onRunStart', scope)
  try {
    const recipe = { algorithm, params: context.params, shared }
    const end = await prepared({ ...options, assignment }, recipe, callbacks)
    if (!end.interrupted) await callbacks.call('onRunEnd', scope, { status: 'completed', metrics: end.metrics })
    return end
  } catch (error) {
    if (isInterrupted(error, options)) throw error
    await callbacks.call('onRunEnd', scope, { status: 'failed', metrics: {}, error: errorRecord(error) })
    throw error
  }
}

async function prepared(options: CountedOptions, recipe: Recipe, callbacks: LoopCallbacks): Promise<End> {
  const { assignment, reporter, services } = options
  const { algorithm, shared } = recipe
  const isRead = !('train' in algorithm && algorithm.takesRows === false)
  const loaded = isRead ? await loadAllRows(assignment.config, algorithm.rowFormat, services) : undefined
  const rows = loaded?.rows ?? []
  if (isRead) numSteps(rows.length, shared) // before anything is opened: there is something to train on
  const scope = await openRun(options, shared, callbacks)
  try {
    const { resume } = assignment
    const phases = 'train' in algorithm ? [] : await planPhases(scope, { ...recipe, algorithm, rows })
    const steps = isRead ? lengthOf(phases, rows.length, shared) : 0
    await reporter.report({
      type: 'run.started',
      config_hash: assignment.config_hash,
      attempt: assignment.attempt,
      engine_id: scope.model.backend.engineId,
      num_steps: steps,
      resumed_from_step: resume?.step,
    })
    if (loaded !== undefined) {
      const n_leaked = loaded.leaked === 0 ? undefined : loaded.leaked
      await reporter.report({ type: 'data.loaded', n_rows: rows.length, data_hash: loaded.hash, n_leaked })
      const copies = rows.map((row) => ({ ...row }))
      await callbacks.call('onTrainData', callbackScope(assignment), copies)
    }
    return await trainAndScore(scope, options, { ...recipe, rows, phases, steps })
  } finally {
    await scope[Symbol.asyncDispose]()
  }
}

function lengthOf(phases: readonly Phase[], rows: number, shared: SharedParams): number {
  const last = phases.at(-1)
  return last === undefined ? numSteps(rows, shared) : last.firstStep + last.numSteps
}

type Training = Recipe & {
  readonly rows: readonly RowOf[RowFormat][]
  /** None: the algorithm drives the run itself. */
  readonly phases: readonly Phase[]
  readonly steps: number
}

async function trainAndScore(scope: RunScope, options: CountedOptions, training: Training): Promise<End> {
  const { assignment, book } = scope
  const { steps } = training
  const loop = await train(scope, options, training)
  if (loop.interrupted) return { interrupted: true }
  checkTrained(options.tally, assignment)
  if (!loop.trained && assignment.benchmarks.length === 0 && !assignment.is_dry) {
    const message = `"${assignment.config.algorithm.kind}" trained nothing, and no benchmark scores what it is`
    throw new EvsysError('RUN_EMPTY', message, { fix: 'declare a benchmark, or name an algorithm that trains.' })
  }
  const last = Math.max(loop.lastStep, 0)
  // Weights that nothing moved are those that the run started from: there is nothing to save.
  const isMoved = loop.trained || !('baseModel' in scope.reference)
  if (isMoved) await saveCheckpoint(scope, last, { numSteps: steps, sampler: true, final: true })
  await deleteCheckpoints(scope, book.passing)
  const end = stepScope(assignment, last, steps, () => {})
  await scope.callbacks.call('onTrainEnd', end, book.at(last))

  const best = book.bestStep
  const weights = isMoved
    ? (book.sampler(best ?? last) ?? (await scope.model.save(`final.${assignment.attempt}`, 'sampler')))
    : scope.reference
  const metrics: Metrics = { ...loop.metrics }
  const finals: BenchmarkEval[] = []
  for (const benchmark of assignment.benchmarks) {
    if (scope.stopping.aborted) return { interrupted: true }
    if (benchmark.run_every > 0 && isScoredAt(scope, benchmark.name, best ?? last)) continue
    const evaluated = await scoreBenchmark(scope, benchmark, weights)
    finals.push(evaluated)
    for (const [name, value] of Object.entries(evaluated.scored.metrics))
      metrics[`${benchmark.split}/${benchmark.name}/${name}`] = value
  }
  checkAnswered(scope, finals)
  return { interrupted: false, metrics: finite(metrics), best_step: best }
}

// A run in which nothing worked is no result, however far it came.
function checkTrained(tally: FailureTally, { is_dry }: RunAssignment): void {
  const rollouts = tally.of('rollouts')
  if (rollouts !== undefined && rollouts.n === rollouts.of) {
    throw new EvsysError('RUN_EMPTY', `all ${rollouts.of} rollouts failed, the first with: ${rollouts.message ?? ''}`, {
      fix: 'correct what the message names: the agent, the verifier or the model it asks.',
    })
  }
  const steps = tally.of('empty_steps')
  if (is_dry || steps === undefined || steps.n < steps.of) return
  const groups = tally.of('constant_groups')
  const isConstant = groups !== undefined && groups.n === groups.of
  const cut = tally.of('cut_answers')
  let why = 'the algorithm returned no example to train on'
  let fix = 'look at the rows, at max_seq_len, and at what buildBatch returns.'
  if (isConstant) {
    why = `all ${groups.of} groups of answers had equal rewards`
    fix = 'give tasks that the model solves sometimes, more answers per task (num_samples) or a higher temperature.'
  } else if (cut !== undefined && cut.n > 0) {
    why = `${cut.n} of ${cut.of} answers had enough reward, but were cut short`
    fix = 'raise max_tokens, so that answers end by themselves.'
  }
  throw new EvsysError('RUN_EMPTY', `none of the ${steps.of} steps trained on anything: ${why}`, { fix })
}

// Without one answer on what selects, or on anything at all, the run has no score.
function checkAnswered({ assignment, evals }: RunScope, finals: readonly BenchmarkEval[]): void {
  const failed = finals.flatMap(({ benchmark, failure }) => (failure === undefined ? [] : [{ benchmark, failure }]))
  const selecting = failed.find(({ benchmark }) => benchmark.name === assignment.objective?.benchmark)
  const isWhole = failed.length === finals.length && evals.length === 0
  const lost = selecting ?? (isWhole ? failed[0] : undefined)
  if (lost === undefined) return
  const { code, message, fix } = lost.failure satisfies ErrorRecord
  throw new EvsysError(code, `every attempt at ${lost.benchmark.name} failed, the first with: ${message}`, { fix })
}

// What was scored in the loop counts where it was the selected checkpoint: another step is another model.
function isScoredAt({ evals }: RunScope, name: string, step: number): boolean {
  return evals.some((each) => each.benchmark === name && each.step === step && Object.keys(each.metrics).length > 0)
}

async function train(
  scope: RunScope,
  options: TrainRunOptions,
  { algorithm, params, shared, rows, phases, steps }: Training,
): Promise<WholeRunEnd> {
  const { assignment } = scope
  const { resume, past } = assignment
  const firstStep = firstStepOf(assignment)
  if ('train' in algorithm) return await wholeRun(scope, { algorithm, params, rows, numSteps: steps })
  const plan = { phases, shared, numSteps: steps }
  scope.book.markPassing(new Set([...savedSteps(plan), ...(resume?.final === true ? [resume.step] : [])]))
  if (resume?.final === true) {
    return { lastStep: firstStep - 1, metrics: past.metrics, trained: true, interrupted: false }
  }
  const reopen: LoopOptions['reopen'] = (from) => reopenModel(options, shared, from)
  const loop = await trainingLoop(scope, { ...plan, firstStep, reopen })
  return { ...loop, trained: true }
}

function firstStepOf({ resume, config }: RunAssignment): number {
  const { load_checkpoint_path, resume_step } = config.model
  const before = resume?.step ?? (load_checkpoint_path === undefined ? undefined : resume_step)
  return before === undefined ? 0 : before + 1
}

// The agent of a run: what `agent` names, or `agent_import_path` of its recipe, which may lead to an export of a file or to a
// class in Python.

/** The registry, in which the file that the run names is an agent of that name. */
async function withAgentFile(registry: Registry, config: RunConfig, projectDir: string): Promise<Registry> {
  const reference = agentOf(config)?.kind
  if (reference === undefined || !isAbsolute(reference)) return registry
  const plugin = await loadExport(reference, { from: projectDir })
  if (plugin.type !== 'agent') {
    throw new EvsysError('PLUGIN_INVALID', `${reference} is a ${plugin.type}, and no agent`, {
      fix: "export what defineAgent of 'evsys/plugin' returns.",
    })
  }
  const found = { plugin, origin: { rank: 'project' as const, label: reference }, params: {} }
  const isIt = (type: string, kind: string) => type === 'agent' && kind === reference
  return {
    ...registry,
    // Where it is asked for, `type` is that of the plugin.
    find: (type, kind) => (isIt(type, kind) ? (found as never) : registry.find(type, kind)),
    get: (type, kind, where) => (isIt(type, kind) ? (found as never) : registry.get(type, kind, where)),
  }
}
