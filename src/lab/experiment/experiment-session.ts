// The state of an experiment that this process works on, and its lifetime: plan, lease, budget, scorers, worker pool. What is done
// with it is in conduct-experiment.ts.
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import {
  AddressVariable,
  agentOf,
  type Item,
  type Notice,
  type Plan,
  type PluginCard,
  type RecordedPlan,
  type SealedBenchmark,
} from '../../contracts/index.ts'
import { Evaluator } from '../../evaluator/index.ts'
import { type Clock, EvsysError, onAbort, type PluginReference, type SecretSource } from '../../kernel/index.ts'
import { dryRunMark, evaluationsFolder } from '../../record/index.ts'
import type { ProcessLevelChoice } from '../../sandbox/index.ts'
import { type ExperimentRow, type Lease, type OpenStore, openStore, type RunRow } from '../../store/index.ts'
import { type ExperimentHooks, openExperimentHooks } from '../callbacks/experiment-hooks.ts'
import type { WorkerLimits } from '../workers/worker-limits.ts'
import { createWorkerPool, type SpareWorker, type WorkerPool } from '../workers/worker-pool.ts'
import { evaluatorPlace } from '../workers/worker-sandbox.ts'
import { beginExperiment, type HeldLease, holdLease, isUnfinished } from './begin-experiment.ts'
import type { BenchmarkSeal, SealChoice } from './benchmark-seal.ts'
import { BudgetKeeper, countSpent, isOfRun } from './budget-keeper.ts'
import type { CheckedExperiment } from './check-experiment.ts'
import { checkLeaks, leakRule } from './check-leaks.ts'
import { SealedBenchmarks } from './sealed-benchmarks.ts'

export interface RunExperimentOptions {
  /** Absent: the project that the file lies in. */
  readonly projectDir?: string | undefined
  readonly set?: readonly string[] | undefined
  readonly dry?: boolean | undefined
  readonly steps?: number | undefined
  /** Resumes the newest unfinished experiment of the same configuration. */
  readonly resume?: boolean | undefined
  /** Trains every run, also one that the record holds under the same hashes. */
  readonly fresh?: boolean | undefined
  readonly maxConcurrent?: number | undefined
  /** Bounds on the process of a run: memory, silence, output. */
  readonly limits?: Partial<WorkerLimits> | undefined
  readonly cwd?: string | undefined
  /** Whether benchmarks must be hidden from recipe code; default `auto`: where the machine can do it. */
  readonly seal?: SealChoice | undefined
  /** How recipe code is shut in; default `auto`: as well as this machine can. */
  readonly sandbox?: ProcessLevelChoice | undefined
  /** First abort: runs save and leave; the experiment can be resumed. */
  readonly signal?: AbortSignal | undefined
  readonly clock?: Clock | undefined
  readonly onPlan?: ((prepared: PreparedExperiment) => void) | undefined
  readonly onItem?: ((row: RunRow, item: Item) => void) | undefined
  /** What happens beside the runs: what is waited for, and models that have no score. */
  readonly onNotice?: ((text: string) => void) | undefined
}

interface PreparedExperiment {
  readonly plan: Plan
  readonly notices: readonly Notice[]
  readonly experimentId: string
  readonly outputDir: string
  readonly runs: readonly RunRow[]
}

export function addressesOf(source: SecretSource): Partial<Record<AddressVariable, string>> {
  const set = AddressVariable.options.flatMap((name) => {
    const value = source.get(name)
    return value === undefined || value.trim() === '' ? [] : [[name, value.trim()]]
  })
  return Object.fromEntries(set)
}

export type SessionOptions = RunExperimentOptions & {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Started while the experiment was checked. */
  readonly spare: SpareWorker
}

export class ExperimentSession {
  readonly store: OpenStore
  readonly experiment: ExperimentRow
  readonly checked: CheckedExperiment
  readonly options: SessionOptions
  readonly outputDir: string
  /** Begun by an earlier process. */
  readonly isResumed: boolean
  readonly hooks: ExperimentHooks
  readonly sealed: SealedBenchmarks
  readonly pool: WorkerPool
  readonly evaluator: Evaluator
  /** Runs at a time. */
  readonly limit: number
  /** Aborted: runs save and leave, by request or because a budget is used up. */
  readonly stopping: AbortSignal
  /** Aborted: whatever runs is killed. */
  readonly signal: AbortSignal
  /** Aborted: another process has the lease. */
  readonly lost: AbortSignal
  // Fields, since `assignRun` takes them as plain values.
  readonly projectDir: string
  readonly plugins: readonly PluginReference[]
  /** Rows that repeat questions, which the experiment allows, and what was not compared. */
  readonly leaks: FoundInData
  readonly seal: BenchmarkSeal
  readonly secrets: CheckedExperiment['secrets']
  readonly addresses: Readonly<Partial<Record<AddressVariable, string>>>
  readonly secretSource: SecretSource
  readonly clock: Clock
  /** What is written counts only while this lease is held. */
  readonly lease: Lease
  readonly benchmarks: readonly SealedBenchmark[]
  readonly #held: HeldLease
  readonly #signals: SessionSignals

  private constructor(parts: SessionParts) {
    const { store, experiment, outputDir, checked, options, held, signals, hooks, sealed, leaks } = parts
    this.store = store
    this.experiment = experiment
    this.outputDir = outputDir
    this.isResumed = parts.isResumed
    this.checked = checked
    this.options = options
    this.hooks = hooks
    this.sealed = sealed
    this.benchmarks = sealed.sealed
    this.#held = held
    this.lease = held.lease
    this.#signals = signals
    this.stopping = signals.stopping
    this.signal = signals.working.signal
    this.lost = signals.lost.signal
    this.clock = options.clock
    this.projectDir = checked.projectDir
    this.plugins = checked.plugins
    this.leaks = leaks
    this.seal = checked.seal
    this.secrets = checked.secrets
    this.secretSource = checked.secretSource
    this.addresses = addressesOf(checked.secretSource)
    const { max_concurrent_arms } = this.experiment.plan.experiment
    this.limit = options.maxConcurrent ?? max_concurrent_arms ?? availableParallelism()
    const { projectDir, seal } = checked
    const { spare, limits } = options
    const sandbox = checked.shutIn?.sandbox
    this.pool = createWorkerPool({ size: this.limit, projectDir, spare, hidden: seal.hidden, sandbox, ...limits })
    const own = evaluationsFolder(projectDir)
    const hidden = seal.hidden.filter((path) => path !== own)
    const place = sandbox && ((cards: readonly PluginCard[]) => evaluatorPlace(sandbox, own, cards))
    this.evaluator = new Evaluator({ projectDir, cards: checked.cards, hidden, limit: this.limit, place })
    if (this.benchmarks.length > 0) this.evaluator.warmUp()
  }

  /** Begins the experiment in the record, or finds the one to resume, and opens what its runs need. */
  static async open(checked: CheckedExperiment, options: SessionOptions): Promise<ExperimentSession> {
    const { clock, signal } = options
    const store = await openStore(join(checked.projectDir, '.evsys', 'evsys.db'), { clock, signal })
    try {
      return await ExperimentSession.#openIn(store, checked, options)
    } catch (error) {
      await store[Symbol.asyncDispose]()
      throw error
    }
  }

  static async #openIn(store: OpenStore, checked: CheckedExperiment, options: SessionOptions) {
    const lost = new AbortController()
    const budget = new BudgetKeeper(checked.plan.experiment.budget)
    const signals = new SessionSignals(budget, options.signal, lost)
    // What is asked to end before it is in the record ends at once.
    const stopListening = onAbort(options.signal, () => signals.working.abort(notBegun()))
    try {
      // Before anything is recorded: what is refused here has not begun.
      const { sealed, leaks } = await openChecked(checked, { limits: options.limits }, signals.working.signal)
      try {
        signals.working.signal.throwIfAborted()
        stopListening()
        const { experiment, ...rest } = await beginHeld(store, checked, options, lost)
        const { held, hooks, outputDir } = rest
        try {
          await sealed.place(outputDir)
          await countSpent(store, experiment, budget)
          signals.startClock()
          return new ExperimentSession({ store, experiment, checked, options, signals, sealed, leaks, ...rest })
        } catch (error) {
          await hooks[Symbol.asyncDispose]()
          await held[Symbol.asyncDispose]()
          throw error
        }
      } catch (error) {
        await sealed[Symbol.asyncDispose]()
        throw error
      }
    } catch (error) {
      stopListening()
      signals.close()
      throw error
    }
  }

  /** Sees every item once it is stored. */
  readonly onItem = (row: RunRow, item: Item): void => {
    this.options.onItem?.(row, item)
    if (isOfRun(item)) this.#signals.stopAt(this.#signals.budget.count(item))
  }

  /** Counts what models outside of runs cost: judges, and those that are scored for comparison. */
  readonly onCost = (usd: number): void => this.#signals.stopAt(this.#signals.budget.spend(usd))

  /** What a run that has not ended has cost so far. */
  spentBy(runId: string): number | undefined {
    return this.#signals.budget.spentBy(runId)
  }

  /** Ends whatever runs, at once. */
  kill(): void {
    this.#signals.working.abort()
  }

  /** Does what needs workers and scorers; they are closed when it is done. */
  async work(task: () => Promise<void>): Promise<void> {
    try {
      await using _sealed = this.sealed
      await using _evaluator = this.evaluator
      await using _pool = this.pool
      await task()
    } finally {
      this.#signals.close()
    }
  }

  async close(): Promise<void> {
    await this.hooks[Symbol.asyncDispose]()
    await this.#held[Symbol.asyncDispose]()
    await this.store[Symbol.asyncDispose]()
  }
}

/** What one run needs of the experiment that it belongs to. */
export interface RunHost
  extends Pick<
    ExperimentSession,
    | 'store'
    | 'experiment'
    | 'outputDir'
    | 'projectDir'
    | 'plugins'
    | 'pool'
    | 'evaluator'
    | 'secrets'
    | 'addresses'
    | 'benchmarks'
    | 'signal'
    | 'stopping'
    | 'clock'
    | 'lease'
    | 'onItem'
    | 'onCost'
  > {
  readonly sealed: Pick<SealedBenchmarks, 'sealed' | 'tasks' | 'hash' | 'score' | 'attempt'>
  readonly checked: Pick<CheckedExperiment, 'cards' | 'drivingAlgorithms' | 'shutIn'>
  readonly options: Pick<SessionOptions, 'signal' | 'onNotice'>
  /** Weights that its run begins with, where no run of the record before it has them. */
  readonly startWeights?: string | undefined
}

interface SessionParts {
  readonly store: OpenStore
  readonly experiment: ExperimentRow
  readonly outputDir: string
  readonly isResumed: boolean
  readonly checked: CheckedExperiment
  readonly options: SessionOptions
  readonly held: HeldLease
  readonly signals: SessionSignals
  readonly hooks: ExperimentHooks
  readonly sealed: SealedBenchmarks
  readonly leaks: FoundInData
}

function notBegun(): EvsysError {
  return new EvsysError('INTERRUPTED', 'it was interrupted before anything was recorded', { fix: 'run the file again' })
}

type FoundInData = Awaited<ReturnType<typeof checkLeaks>>

/** What ends an experiment before its time: a request, a budget that is used up, a lease that another process took. */
class SessionSignals {
  readonly budget: BudgetKeeper
  readonly lost: AbortController
  readonly working = new AbortController()
  readonly stopping: AbortSignal
  readonly #over = new AbortController()
  readonly #stopListening: () => void
  #deadline: NodeJS.Timeout | undefined

  constructor(budget: BudgetKeeper, signal: AbortSignal, lost: AbortController) {
    this.budget = budget
    this.lost = lost
    this.stopping = AbortSignal.any([signal, this.#over.signal])
    this.#stopListening = onAbort(lost.signal, () => this.working.abort(lost.signal.reason))
  }

  startClock(): void {
    const { wallMs } = this.budget
    const fix = 'raise budget.wall and run the file again; what is finished stays in the record'
    const exceeded = () => new EvsysError('BUDGET_EXCEEDED', 'budget.wall is used up', { fix })
    if (wallMs !== undefined) this.#deadline = setTimeout(() => this.stopAt(exceeded()), wallMs)
  }

  stopAt(exceeded: EvsysError | undefined): void {
    if (exceeded !== undefined) this.#over.abort(exceeded)
  }

  close(): void {
    clearTimeout(this.#deadline)
    this.#stopListening()
  }
}

interface Begun {
  readonly experiment: ExperimentRow
  readonly outputDir: string
  readonly isResumed: boolean
  readonly held: HeldLease
  readonly hooks: ExperimentHooks
}

/** The experiment in the record, new or to be resumed, with the lease on it. */
async function beginHeld(
  store: OpenStore,
  checked: CheckedExperiment,
  options: SessionOptions,
  lost: AbortController,
): Promise<Begun> {
  const { projectDir, plugins, seal } = checked
  const { clock } = options
  const begun = await beginChecked(store, checked, options)
  const { outputDir, isResumed } = begun
  const held = await holdLease(store.leases, `experiment:${begun.experiment.id}`, lost)
  try {
    const experiment = (await store.experiment(begun.experiment.id)) ?? begun.experiment
    // The process that held the lease until now may have brought it to its end: then this one is a second run of the file.
    if (!isUnfinished(experiment)) throw new ResumedMeanwhile(experiment)
    const of = { store, experiment, lease: held.lease, outputDir, projectDir, plugins, hidden: seal.hidden, clock }
    const hooks = openExperimentHooks({ ...of, cards: checked.cards, sandbox: checked.shutIn?.sandbox })
    return { experiment, outputDir, isResumed, held, hooks }
  } catch (error) {
    await held[Symbol.asyncDispose]()
    throw error
  }
}

/** Thrown when another process finished what was to be resumed. */
export class ResumedMeanwhile extends Error {
  readonly experiment: ExperimentRow

  constructor(experiment: ExperimentRow) {
    super(`${experiment.id} has finished meanwhile`)
    this.experiment = experiment
  }
}

/** What is opened and compared before anything is recorded: the scorers of the benchmarks, and their questions with the training rows. */
export async function openChecked(
  checked: CheckedExperiment,
  options: Pick<Parameters<typeof checkLeaks>[0], 'limits' | 'everyRow' | 'cachedIn'>,
  signal: AbortSignal,
): Promise<{ sealed: SealedBenchmarks; leaks: FoundInData }> {
  const { plan, trainingData, projectDir, plugins, seal } = checked
  const sealed = await openBenchmarks(checked, signal)
  try {
    const benchmarks = plan.experiment.metadata.benchmark
    const tasks = (benchmark: string) => sealed.tasks(benchmark)
    const leaks = await checkLeaks({
      ...options,
      benchmarks,
      leaks: plan.experiment.leaks,
      tasks,
      trainingData,
      projectDir,
      plugins,
      seal,
      sandbox: checked.shutIn?.sandbox,
      signal,
    })
    return { sealed, leaks }
  } catch (error) {
    await sealed[Symbol.asyncDispose]()
    throw error
  }
}

function beginChecked(store: OpenStore, checked: CheckedExperiment, options: SessionOptions) {
  const { plan, projectDir, file, seal, cards, shutIn } = checked
  const { clock, dry = false, resume = false, set = [], steps } = options
  const provenance = {
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    file,
    set: set.length === 0 ? undefined : set,
    steps,
    seal: plan.experiment.metadata.benchmark.length === 0 ? undefined : seal.level,
    sandbox: shutIn?.level,
    network: shutIn === undefined || shutIn.network.length === 0 ? undefined : shutIn.network,
    plugins: Object.fromEntries(cards.map(({ type, kind, hash }) => [`${type} ${kind}`, hash])),
    ...(dry ? dryRunMark : {}),
  }
  return beginExperiment(store, plan, { resume, projectDir, clock, provenance })
}

/** Benchmarks whose questions are left out of training rows. */
export function dropping({ experiment: { leaks, metadata } }: Pick<RecordedPlan, 'experiment'>): string[] {
  return metadata.benchmark.filter((each) => leakRule(each, leaks) === 'drop').map(({ name }) => name)
}

export function openBenchmarks(
  {
    plan,
    projectDir,
    plugins,
    cards,
    seal,
    secretSource,
  }: Pick<CheckedExperiment, 'plan' | 'projectDir' | 'plugins' | 'cards' | 'seal' | 'secretSource'>,
  signal: AbortSignal,
): Promise<SealedBenchmarks> {
  return SealedBenchmarks.open(plan.experiment.metadata.benchmark, {
    projectDir,
    plugins,
    cards,
    hidden: seal.hidden,
    secretSource,
    dropping: dropping(plan),
    agents: plan.runs.map(({ config }) => agentOf(config)),
    environments: plan.runs.map(({ config }) => config.environment),
    signal,
  })
}
