// Runs of candidates of research over an experiment file. They go through the same checks, workers, evaluator and sealed scorers as
// the runs of `evsys run`; what is opened here once serves every candidate, since no candidate may change what judges it.
import { availableParallelism } from 'node:os'
import { builtins } from '../../builtins/index.ts'
import { loadExperiment, pluginReferences } from '../../config/index.ts'
import type { Benchmark, EvalRow, Item, Plan, RunRow, SealedBenchmark, TrainingRun } from '../../contracts/index.ts'
import { Evaluator } from '../../evaluator/index.ts'
import {
  type Catalog,
  type Clock,
  EvsysError,
  hashOf,
  openCatalog,
  type PluginReference,
  type SecretSource,
} from '../../kernel/index.ts'
import { evaluationsFolder, outputDirOf } from '../../record/index.ts'
import type { ExperimentRow, Lease, OpenStore } from '../../store/index.ts'
import { workerLimits } from '../workers/worker-limits.ts'
import { createWorkerPool } from '../workers/worker-pool.ts'
import { type SealChoice, sealBenchmarks } from './benchmark-seal.ts'
import { type CheckedExperiment, checkExperiment } from './check-experiment.ts'
import { checkLeaks } from './check-leaks.ts'
import { addressesOf, openBenchmarks, type RunHost } from './experiment-session.ts'
import { reusableRuns, reuseRun } from './reuse-runs.ts'
import { ingestLeftovers, superviseRun } from './supervise-run.ts'

/** A candidate as text: an experiment file with one run, read as if it lay in the place of the file that research began with. */
export interface CandidateText {
  readonly text: string
  readonly seed: number
  /** `val`: its test benchmarks are not scored. */
  readonly split: 'val' | 'test'
  /** In place of what its `plugins:` lead to. */
  readonly plugins?: readonly PluginReference[] | undefined
}

/** A candidate that may start. */
export interface CheckedCandidate {
  readonly run: TrainingRun
  readonly checked: CheckedExperiment
  readonly split: 'val' | 'test'
}

interface OpenOptions {
  readonly file: string
  /** The baseline. */
  readonly text: string
  readonly projectDir: string
  readonly store: OpenStore
  readonly secretSource: SecretSource
  readonly clock: Clock
  /** Candidates at a time. */
  readonly places?: number | undefined
  readonly seal?: SealChoice | undefined
  readonly signal: AbortSignal
  readonly onNotice?: ((text: string) => void) | undefined
}

export type CandidateRuns = Awaited<ReturnType<typeof openCandidateRuns>>

/** Opens what the runs of all candidates share. Throws what `evsys run` would refuse of the baseline. */
export async function openCandidateRuns(options: OpenOptions) {
  const { file, projectDir, store, secretSource, clock, signal } = options
  const { places = availableParallelism() } = options
  const catalogs = new Map<string, Promise<Catalog>>()
  const catalogOf = (plugins: readonly PluginReference[], hidden: readonly string[]) => {
    const key = hashOf(plugins.map(({ spec, from }) => ({ spec, from })))
    const known = catalogs.get(key) ?? openCatalog({ builtins: builtins(), projectDir, plugins, hidden, signal })
    catalogs.set(key, known)
    return known
  }
  const load = async ({ text, seed }: Pick<CandidateText, 'text' | 'seed'>) => {
    const set = ['n_repeats=1', `base_seed=${seed}`]
    const loaded = await loadExperiment({ file, text }, { set, refuseUnused: true, cwd: '/', signal })
    return { ...loaded, plan: oneRun(loaded.plan) }
  }
  const first = await load({ text: options.text, seed: 0 })
  const benchmarks = first.plan.experiment.metadata.benchmark
  const configs = first.plan.runs.map(({ config }) => config)
  const seal = await sealBenchmarks({ benchmarks, runs: configs, projectDir, choice: options.seal ?? 'auto' })
  const { hidden } = seal
  const check = async (candidate: CandidateText): Promise<CheckedCandidate> => {
    const loaded = await load(candidate)
    const plugins = candidate.plugins ?? pluginReferences(loaded)
    const checking = { projectDir, plugins, seal, secretSource, signal }
    const checked = await checkExperiment(loaded, await catalogOf(plugins, hidden), checking)
    const [run] = checked.plan.runs
    if (run === undefined) throw new EvsysError('INTERNAL', 'a candidate has no run')
    return { run, checked, split: candidate.split }
  }
  const closeCatalogs = async () => {
    for (const catalog of catalogs.values()) await (await catalog.catch(() => undefined))?.[Symbol.asyncDispose]()
  }
  const { base, sealed } = await openBase().catch(async (error: unknown) => {
    await closeCatalogs()
    throw error
  })
  const own = evaluationsFolder(projectDir)
  const elsewhere = hidden.filter((path) => path !== own)
  const pool = createWorkerPool({ size: places, projectDir, hidden, ...workerLimits(undefined) })
  const evaluator = new Evaluator({ projectDir, cards: base.checked.cards, hidden: elsewhere, limit: places })
  async function openBase() {
    const base = await check({ text: options.text, seed: 0, split: 'test' })
    return { base, sealed: await openBenchmarks(base.checked, signal) }
  }
  let placed: string | undefined
  return {
    /** The baseline, as it would run. */
    base,
    seal,
    /** Of a plugin as the project has it: what `evsys schema` prints. */
    catalog: await catalogOf(base.checked.plugins, hidden),
    scorerHash: (benchmark: string) => sealed.hash(benchmark),
    check,
    /** The rows that a candidate trains on repeat no question that they may not. Throws where they do. */
    async compareRows({ checked }: CheckedCandidate) {
      const { plan, trainingData, plugins } = checked
      const { leaks, metadata } = plan.experiment
      const tasks = (benchmark: string) => sealed.tasks(benchmark)
      const asked = { benchmarks: metadata.benchmark, leaks, tasks, trainingData, projectDir, plugins, seal, signal }
      return await checkLeaks(asked)
    },
    /** Does a run of the record to its end, or resumes it; what is done already is not done again. */
    async run(candidate: CheckedCandidate, asked: RunAsked): Promise<CandidateRun> {
      const { experiment, lease, stopping, killing, onItem } = asked
      let reused: RunRow | undefined
      const row = await requireRow(store, asked.runId)
      if (isOpen(row)) {
        const outputDir = outputDirOf(experiment, projectDir)
        if (placed !== outputDir) await sealed.place(outputDir)
        placed = outputDir
        const { checked, split, run } = candidate
        const isAsked = ({ split: of }: SealedBenchmark) => split === 'test' || of === 'val'
        const host: RunHost = {
          store,
          experiment,
          outputDir,
          projectDir,
          plugins: checked.plugins,
          pool,
          evaluator,
          secrets: new Map([[row.name, checked.secrets.get(run.name) ?? {}]]),
          addresses: addressesOf(secretSource),
          benchmarks: sealed.sealed.filter(isAsked),
          signal: killing,
          stopping,
          clock,
          lease,
          onItem: (_, item) => onItem?.(item),
          onCost: (usd) => asked.onCost?.(usd),
          sealed: {
            sealed: sealed.sealed.filter(isAsked),
            tasks: (name) => sealed.tasks(name),
            hash: (name) => sealed.hash(name),
            score: (name, predictions, more) => sealed.score(name, predictions, more),
            attempt: (name, question) => sealed.attempt(name, question),
          },
          checked,
          options: { signal: stopping, onNotice: options.onNotice },
        }
        await ingestLeftovers(row, host)
        const now = await requireRow(store, row.id)
        asked.onEarlier?.(await store.evals(row.id))
        const reusing = { ...host, seal }
        const origin = asked.fresh === true ? undefined : (await reusableRuns(reusing, now)).get(now.id)
        reused = origin
        if (origin !== undefined) {
          await reuseRun(now, origin, reusing)
          asked.onEarlier?.(await store.evals(row.id))
        } else if (isOpen(now)) await superviseRun(now, host)
      }
      return { row: await requireRow(store, row.id), evals: await store.evals(row.id), reused }
    },
    async [Symbol.asyncDispose]() {
      await pool[Symbol.asyncDispose]()
      await evaluator[Symbol.asyncDispose]()
      await sealed[Symbol.asyncDispose]()
      await closeCatalogs()
    },
  }
}

interface CandidateRun {
  readonly row: RunRow
  readonly evals: readonly EvalRow[]
  /** The earlier run of the record that stands for it: nothing was trained. */
  readonly reused?: RunRow | undefined
}

interface RunAsked {
  readonly runId: string
  readonly experiment: ExperimentRow
  readonly lease: Lease
  /** Aborted: the run saves and leaves, and can be resumed. */
  readonly stopping: AbortSignal
  /** Aborted: it is ended at once. */
  readonly killing: AbortSignal
  onItem?: ((item: Item) => void) | undefined
  /** Evaluations that a run that is resumed made before. */
  onEarlier?: ((evals: readonly EvalRow[]) => void) | undefined
  onCost?: ((usd: number) => void) | undefined
  /** It is trained, even where the record holds an equal run. */
  readonly fresh?: boolean | undefined
}

function isOpen({ status }: Pick<RunRow, 'status'>): boolean {
  return status === 'pending' || status === 'running'
}

async function requireRow(store: OpenStore, runId: string): Promise<RunRow> {
  const row = await store.run(runId)
  if (row === undefined) throw new EvsysError('STORE_MISSING', `the record has no run ${runId}`)
  return row
}

/** What a candidate is judged by, without other models beside it; claims and caps are those of the session. */
function oneRun(plan: Plan): Plan {
  const runs = plan.runs.filter(({ arm }) => arm !== 'base_model')
  const [run] = runs
  if (run === undefined || runs.length > 1) {
    throw new EvsysError('CONFIG_INVALID', `a candidate is one run, and the file has ${runs.length}`, {
      fix: 'research begins with a file of one run; take one arm of it.',
    })
  }
  const { claim: _claim, claims: _claims, ...rest } = plan
  const { budget: _budget, metadata, ...experiment } = plan.experiment
  const { claim: _written, ...kept } = metadata
  const benchmark = metadata.benchmark.map((each): Benchmark => ({ ...each, models: [] }))
  return {
    ...rest,
    experiment: { ...experiment, n_repeats: 1, metadata: { ...kept, benchmark } },
    arms: plan.arms.filter(({ name }) => name === run.arm),
    runs,
  }
}
