// Runs of candidates of research over an experiment file. They go through the same checks, workers, evaluator and sealed scorers as
// the runs of `evsys run`; what is opened here once serves every candidate, since no candidate may change what judges it.
import { randomUUID } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { builtins } from '../../builtins/index.ts'
import { loadExperiment, pluginReferences } from '../../config/index.ts'
import type {
  Benchmark,
  ErrorRecord,
  EvalRow,
  Item,
  Plan,
  PluginCard,
  RunRow,
  SealedBenchmark,
  TrainingRun,
} from '../../contracts/index.ts'
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
import { type FoundLevel, findProcessLevel, type ProcessLevelChoice, pluginPlace } from '../../sandbox/index.ts'
import { type ExperimentRow, type Lease, type OpenStore, openStore } from '../../store/index.ts'
import { workerLimits } from '../workers/worker-limits.ts'
import { createWorkerPool } from '../workers/worker-pool.ts'
import { evaluatorPlace, type ShutIn } from '../workers/worker-sandbox.ts'
import { beginExperiment, holdLease } from './begin-experiment.ts'
import { type SealChoice, sealBenchmarks } from './benchmark-seal.ts'
import { type CheckedExperiment, checkExperiment } from './check-experiment.ts'
import { checkLeaks, sampleTraining } from './check-leaks.ts'
import { addressesOf, openBenchmarks, type RunHost } from './experiment-session.ts'
import { reusableRuns, reuseRun } from './reuse-runs.ts'
import { openness, shutInWorkers } from './shut-in.ts'
import { ingestLeftovers, lastOf, superviseRun } from './supervise-run.ts'

/** A candidate as text: an experiment file with one run, read as if it lay in the place of the file that research began with. */
export interface CandidateText {
  readonly text: string
  readonly seed: number
  /** `val`: its test benchmarks are not scored. */
  readonly split: 'val' | 'test'
  readonly code?: CandidateCode | undefined
}

/** Plugin files that a candidate brings. They run in the sandbox of run workers, also where they are only looked at. */
export interface CandidateCode {
  /** Where they lie. */
  readonly folder: string
  /** Whether a file, by its path below the folder of the experiment, is one that candidates may bring. */
  owns(path: string): boolean
}

/** A candidate that may start. */
export interface CheckedCandidate {
  /** The run that is scored: of a recipe with stages, the last. */
  readonly run: TrainingRun
  /** Stages before it. */
  readonly before: readonly TrainingRun[]
  readonly checked: CheckedExperiment
  readonly split: 'val' | 'test'
  readonly code?: CandidateCode | undefined
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
  /** How recipe code is shut in; default `auto`: as well as this machine can. */
  readonly sandbox?: ProcessLevelChoice | undefined
  /** Candidates bring code: that nothing shuts it in is an error, unless `sandbox` says so. */
  readonly withCode?: boolean | undefined
  readonly signal: AbortSignal
  readonly onNotice?: ((text: string) => void) | undefined
}

export type CandidateRuns = Awaited<ReturnType<typeof openCandidateRuns>>

/** Steps of the trial of a candidate that brings code. */
const TRIAL_STEPS = 2
/** Longest that a trial may take. */
const TRIAL_MS = 5 * 60_000

/** Opens what the runs of all candidates share. Throws what `evsys run` would refuse of the baseline. */
export async function openCandidateRuns(options: OpenOptions) {
  const { file, projectDir, store, secretSource, clock, signal } = options
  const { places = availableParallelism(), withCode = false } = options
  const load = async ({ text, seed }: Pick<CandidateText, 'text' | 'seed'>, steps?: number) => {
    const set = ['n_repeats=1', `base_seed=${seed}`]
    const loaded = await loadExperiment({ file, text }, { set, steps, refuseUnused: true, cwd: '/', signal })
    return { ...loaded, plan: oneRun(loaded.plan) }
  }
  const first = await load({ text: options.text, seed: 0 })
  const benchmarks = first.plan.experiment.metadata.benchmark
  const configs = first.plan.runs.map(({ config }) => config)
  const choice = options.sandbox ?? 'auto'
  const found = await findProcessLevel(choice)
  const sealing = { benchmarks, runs: configs, projectDir, choice: options.seal ?? 'auto', sandbox: found } as const
  const seal = await sealBenchmarks(sealing)
  const { hidden } = seal
  const catalogs = openCatalogs({ projectDir, hidden, level: found.level, signal })
  const limits = workerLimits(undefined)
  const check = async (candidate: CandidateText, trial?: { steps: number }): Promise<CheckedCandidate> => {
    const { split, code } = candidate
    const loaded = await load(candidate, trial?.steps)
    const plugins = broughtPlugins(pluginReferences(loaded), { file, code })
    const checking = { projectDir, plugins, seal, secretSource, signal }
    const catalog = await catalogs.of(plugins)
    const checked = { ...(await checkExperiment(loaded, catalog, checking)), shutIn }
    const last = checked.plan.runs.at(-1)
    if (last === undefined) throw new EvsysError('INTERNAL', 'a candidate has no run')
    const { after: _, ...run } = last // its stages before it are no runs of the record
    return { run, before: checked.plan.runs.slice(0, -1), checked, split, code }
  }
  let shutIn: ShutIn | undefined
  const { base, sealed } = await openBase().catch(async (error: unknown) => {
    await catalogs[Symbol.asyncDispose]()
    throw error
  })
  const catalog = await catalogs.of(base.checked.plugins)
  const own = evaluationsFolder(projectDir)
  const elsewhere = hidden.filter((path) => path !== own)
  const pool = createWorkerPool({ size: places, projectDir, hidden, sandbox: shutIn?.sandbox, ...limits })
  const sandbox = base.checked.shutIn?.sandbox
  const place = sandbox && ((cards: readonly PluginCard[]) => evaluatorPlace(sandbox, own, cards))
  const evaluator = new Evaluator({ projectDir, cards: base.checked.cards, hidden: elsewhere, limit: places, place })
  async function openBase() {
    const base = await check({ text: options.text, seed: 0, split: 'test' })
    const { plan, plugins } = base.checked
    const cards = (await catalogs.of(plugins)).cards()
    // Where candidates bring code, nothing that workers write is kept for others.
    const brought = withCode ? [{ spec: candidatesFolder(projectDir), from: projectDir }] : []
    shutIn = await shutInWorkers(plan, { choice, found, cards, projectDir, plugins: [...plugins, ...brought], hidden })
    if (withCode && shutIn.level === 'process' && choice !== 'process') throw notShutIn(shutIn)
    for (const { text } of openness(shutIn)) options.onNotice?.(text)
    return {
      base: { ...base, checked: { ...base.checked, shutIn } },
      sealed: await openBenchmarks(base.checked, signal),
    }
  }
  const hostOf = (candidate: CheckedCandidate, at: Pick<RunHost, 'store' | 'experiment' | 'outputDir' | 'lease'>) => {
    const { checked, run } = candidate
    return {
      ...at,
      projectDir,
      plugins: checked.plugins,
      pool,
      evaluator,
      addresses: addressesOf(secretSource),
      clock,
      checked,
      secretsOf: (name: string) => new Map([[name, checked.secrets.get(name) ?? checked.secrets.get(run.name) ?? {}]]),
    }
  }
  /** Trains runs outside of the record, one after the other; what they leave is deleted with the scratch. */
  const openScratch = async (candidate: CheckedCandidate, runs: readonly TrainingRun[]) => {
    const { plan: whole } = candidate.checked
    const store = await openStore(':memory:', { clock })
    const arms = whole.arms.filter(({ name }) => runs.some(({ arm }) => arm === name))
    const plan = { ...whole, experiment: { ...whole.experiment, name: 'trial' }, runs: [...runs], arms }
    const begun = await beginExperiment(store, plan, { resume: false, projectDir, clock, provenance: {} })
    const { experiment, outputDir } = begun
    const held = await holdLease(store.leases, `experiment:${experiment.id}`, new AbortController())
    const unscored = { sealed: [], tasks: () => [], hash: () => '', score: notScored, attempt: notScored }
    return {
      /** Why one of them cannot be trained, or the weights that the last one ends with. */
      async train({ stopping, killing, onCost }: Pick<RunAsked, 'stopping' | 'killing' | 'onCost'>) {
        const { secretsOf, ...host } = hostOf(candidate, { store, experiment, outputDir, lease: held.lease })
        let weights: string | undefined
        for (const row of await store.runs(experiment.id)) {
          const asked = { secrets: secretsOf(row.name), benchmarks: [], sealed: unscored, signal: killing, stopping }
          const options = { signal: stopping, onNotice: undefined }
          await superviseRun(row, { ...host, ...asked, options, onItem: () => {}, onCost: () => {} })
          const now = await requireRow(store, row.id)
          onCost?.(now.costUsd ?? 0)
          const lost: ErrorRecord = { code: 'WORKER_DIED', message: `it ended ${now.status}` }
          if (now.status !== 'completed') return { error: now.error ?? lost }
          weights = await lastOf(store, row.id, 'state')
        }
        return { weights }
      },
      async [Symbol.asyncDispose]() {
        await held[Symbol.asyncDispose]()
        await store[Symbol.asyncDispose]()
        await rm(outputDir, { recursive: true, force: true })
      },
    }
  }
  let placed: string | undefined
  let sampled: ReturnType<typeof sampleTraining> | undefined
  return {
    /** The baseline, as it would run. */
    base,
    seal,
    /** How recipe code is shut in. */
    shutIn: base.checked.shutIn,
    /** Of a plugin as the project has it: what `evsys schema` prints. */
    catalog,
    scorerHash: (benchmark: string) => sealed.hash(benchmark),
    /** What a benchmark asks. */
    questions: (benchmark: string) => sealed.tasks(benchmark).map(({ instruction }) => instruction),
    check,
    /** Some of the rows that the baseline trains on, as they come. */
    samples(most: number) {
      const [first] = base.checked.trainingData
      const isOurs = (type: 'data_source' | 'transform', kind: string) =>
        catalog.card(type, kind)?.origin === 'built-in'
      sampled ??= first === undefined ? undefined : sampleTraining(first, { projectDir, isOurs, most, signal })
      return sampled
    },
    /** The rows that a candidate trains on repeat no question that they may not. Throws where they do. */
    async compareRows({ checked, code }: CheckedCandidate) {
      const { plan, trainingData, plugins } = checked
      const { leaks, metadata } = plan.experiment
      const tasks = (benchmark: string) => sealed.tasks(benchmark)
      const sandbox = shutIn?.sandbox
      const asked = {
        benchmarks: metadata.benchmark,
        leaks,
        tasks,
        trainingData,
        projectDir,
        plugins,
        seal,
        sandbox,
        signal,
      }
      if (code === undefined) return await checkLeaks(asked)
      // What its code writes is read here alone, and by no run.
      const folder = join(outputRootOf(plan, projectDir), `rows-${randomUUID()}`)
      await mkdir(folder, { recursive: true })
      try {
        let why: ErrorRecord | undefined
        const onFailed = (error: ErrorRecord) => {
          why = error
        }
        const compared = await checkLeaks({ ...asked, elsewhere: { folder, onFailed } })
        if (compared.isWhole) return compared
        const reason = why === undefined ? '' : `: ${(why as ErrorRecord).message}` // set above, while rows were made
        throw new EvsysError('DATA_INVALID', `its training rows cannot be made before it trains${reason}`, {
          fix: 'transforms have to make them from the data of the file alone, and in little time.',
        })
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
    /** Trains a candidate for two steps, outside of the record. Why it cannot be trained; undefined: it can. */
    async trial(candidate: CandidateText, stopping: AbortSignal): Promise<ErrorRecord | undefined> {
      const tried = await check(candidate, { steps: TRIAL_STEPS })
      await using scratch = await openScratch(tried, [...tried.before, tried.run])
      const late = AbortSignal.timeout(TRIAL_MS)
      try {
        return (await scratch.train({ stopping, killing: AbortSignal.any([stopping, late]) })).error
      } catch (error) {
        if (!late.aborted || stopping.aborted) throw error
        return { code: 'WORKER_DIED', message: `timed out: two steps took longer than ${TRIAL_MS / 60_000} minutes` }
      }
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
        const { split } = candidate
        const isAsked = ({ split: of }: SealedBenchmark) => split === 'test' || of === 'val'
        const { secretsOf, ...shared } = hostOf(candidate, { store, experiment, outputDir, lease })
        const host: RunHost = {
          ...shared,
          secrets: secretsOf(row.name),
          benchmarks: sealed.sealed.filter(isAsked),
          signal: killing,
          stopping,
          onItem: (_, item) => onItem?.(item),
          onCost: (usd) => asked.onCost?.(usd),
          sealed: {
            sealed: sealed.sealed.filter(isAsked),
            tasks: (name) => sealed.tasks(name),
            hash: (name) => sealed.hash(name),
            score: (name, predictions, more) => sealed.score(name, predictions, more),
            attempt: (name, question) => sealed.attempt(name, question),
          },
          options: { signal: stopping, onNotice: options.onNotice },
        }
        await ingestLeftovers(row, host)
        const now = await requireRow(store, row.id)
        asked.onEarlier?.(await store.evals(row.id))
        const reusing = { ...host, seal }
        // What was trained before it, outside of the record, is not compared.
        const isCompared = asked.fresh !== true && candidate.before.length === 0
        const origin = isCompared ? (await reusableRuns(reusing, now)).get(now.id) : undefined
        reused = origin
        if (origin !== undefined) {
          await reuseRun(now, origin, reusing)
          asked.onEarlier?.(await store.evals(row.id))
        } else if (isOpen(now) && candidate.before.length > 0) {
          await using scratch = await openScratch(candidate, candidate.before)
          const { error, weights } = await scratch.train(asked)
          if (error !== undefined) return { row: { ...now, status: 'failed', error }, evals: [] }
          await superviseRun(now, { ...host, startWeights: weights })
        } else if (isOpen(now)) await superviseRun(now, host)
      }
      return { row: await requireRow(store, row.id), evals: await store.evals(row.id), reused }
    },
    async [Symbol.asyncDispose]() {
      await pool[Symbol.asyncDispose]()
      await evaluator[Symbol.asyncDispose]()
      await sealed[Symbol.asyncDispose]()
      await catalogs[Symbol.asyncDispose]()
    },
  }
}

/** Where the plugin files of candidates lie, by their content. */
export function candidatesFolder(projectDir: string): string {
  return join(projectDir, '.evsys', 'cache', 'candidates')
}

/** Catalogs that are open at a time: each holds a process. */
const MOST_CATALOGS = 6

function openCatalogs({
  level,
  ...shared
}: {
  projectDir: string
  hidden: readonly string[]
  level: FoundLevel['level']
  signal: AbortSignal
}) {
  const open = new Map<string, Promise<Catalog>>()
  const close = async (catalog: Promise<Catalog>) =>
    await (await catalog.catch(() => undefined))?.[Symbol.asyncDispose]()
  return {
    /** The catalog of these plugins. Those that were used last stay open, and the first, which is that of the baseline. */
    async of(plugins: readonly PluginReference[]) {
      const place = async () => pluginPlace(level, { ...shared, plugins })
      const key = hashOf(plugins.map(({ spec, from }) => ({ spec, from })))
      const known = open.get(key) ?? openCatalog({ builtins: builtins(), ...shared, plugins, place })
      if (open.keys().next().value !== key) open.delete(key)
      open.set(key, known)
      const [, oldest] = [...open]
      if (open.size > MOST_CATALOGS && oldest !== undefined) {
        open.delete(oldest[0])
        await close(oldest[1])
      }
      return await known
    },
    async [Symbol.asyncDispose]() {
      for (const catalog of open.values()) await close(catalog)
    },
  }
}

/** The files that a candidate brings in place of those that its `plugins:` lead to. */
function broughtPlugins(
  references: readonly PluginReference[],
  { file, code }: { file: string; code: CandidateCode | undefined },
): PluginReference[] {
  return references.map((reference) => {
    const { spec } = reference
    if (code === undefined || !(spec.startsWith('.') || isAbsolute(spec))) return reference
    const path = relative(dirname(file), resolve(reference.from, spec)).split(sep).join('/')
    return code.owns(path) ? { ...reference, spec: join(code.folder, path) } : reference
  })
}

function outputRootOf({ experiment }: Plan, projectDir: string): string {
  return experiment.output_dir ?? join(projectDir, '.evsys', 'runs')
}

function notShutIn({ reason = 'it was not asked for' }: ShutIn): EvsysError {
  return new EvsysError('SANDBOX_MISSING', `code of candidates cannot be shut in here: ${reason}`, {
    fix: 'take `research.scope` out of the file; or allow code that nothing shuts in by its name: --sandbox process.',
  })
}

function notScored(): never {
  throw new EvsysError('INTERNAL', 'a trial is not scored')
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
  // Stages are one run after the other, of which the last is scored.
  const isChain = runs.every(({ after }, i) => after === runs[i - 1]?.name)
  if (runs.length === 0 || !isChain) {
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
    arms: plan.arms.filter(({ name }) => runs.some(({ arm }) => arm === name)),
    runs,
  }
}
