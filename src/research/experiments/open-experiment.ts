// Research over an experiment file: its run is the baseline, its validation benchmark decides, its test benchmark is the hidden split.
// A candidate is another document of the same file. Everything here follows the rules of `evsys run`: the lab does the runs.
import { readFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { loadExperiment, wholeExperiment } from '../../config/index.ts'
import {
  type AttemptFailure,
  type Benchmark,
  type CandidateFiles,
  type Direction,
  type EditCatalog,
  type EvalRow,
  type Executor,
  type ExperimentMaterial,
  type Item,
  type Lease,
  type Location,
  metricNamed,
  metricSpec,
  type Plan,
  type PlannedArm,
  ResearchBlock,
  type ResearchTask,
  type RunOutcome,
  type RunRow,
  TaskFile,
  type TrainingRun,
} from '../../contracts/index.ts'
import {
  EvsysError,
  fileError,
  hashOf,
  isMapping,
  problemsOf,
  type SecretSource,
  systemClock,
} from '../../kernel/index.ts'
import {
  type CandidateCode,
  type CandidateRuns,
  type CheckedCandidate,
  loadLab,
  type SandboxChoice,
} from '../../lab/index.ts'
import { answersOf, lossCurve, planForecast, selectedEval } from '../../record/index.ts'
import type { OpenStore } from '../../store/index.ts'
import {
  type CodeScope,
  changedHoldings,
  checkScope,
  codeFileProblems,
  codeOf,
  holdings,
  memorised,
  placeCode,
  pluginProblems,
  readScope,
} from './candidate-code.ts'
import { documentEdits, rewriteYaml } from './edits/index.ts'

/** Name of the experiment file among the files of a candidate. */
export const DOCUMENT = 'config.yaml'

export interface OpenExperimentOptions {
  /** Of the experiment, absolute. */
  readonly file: string
  readonly projectDir: string
  readonly store: OpenStore
  readonly secretSource: SecretSource
  /** Candidates at a time. */
  readonly workers?: number | undefined
  /** How recipe code is shut in; default `auto`. */
  readonly sandbox?: SandboxChoice | undefined
  readonly signal: AbortSignal
  onNotice?: ((text: string) => void) | undefined
}

export interface OpenExperiment {
  readonly executor: Executor
  readonly task: ResearchTask
  /** Of the experiment. */
  readonly name: string
  /** As the file writes it. */
  readonly objective: string
  readonly block: ResearchBlock
  /** Base model of its run. */
  readonly model: string
  /** Equal trainings are equal to the byte: they run on this machine. */
  readonly isRepeatable: boolean
  readonly catalog: EditCatalog
  /** Of its test benchmark; undefined: it has none with the metric. */
  readonly hiddenTest: string | undefined
  /** Folders and files that hold expected answers. */
  readonly sealed: readonly string[]
  /** Runs at a time that the file asks for. */
  readonly maxConcurrent: number | undefined
}

export const canonicalDocument = documentEdits.canonicalDocument

/** Opens an experiment file for research. Throws all that is wrong with it. */
export async function openExperiment(options: OpenExperimentOptions): Promise<OpenExperiment> {
  const { file, projectDir, store, signal, secretSource, onNotice, workers, sandbox } = options
  const written = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw fileError('read', file, cause)
  })
  const { plan, locate } = await loadExperiment({ file, text: written }, { refuseUnused: true, signal })
  const block = plan.experiment.research ?? ResearchBlock.parse({})
  const arm = await baselineArm(store, plan)
  const whole = await wholeExperiment(
    { file, text: written },
    { arm: plan.arms.length > 1 && !isStaged(plan) ? arm.name : undefined, signal },
  )
  const text = rewriteYaml(whole.text, whole.value)
  const { openCandidateRuns, candidatesFolder } = await loadLab()
  const withCode = block.scope.length > 0
  const scoped: CodeScope = { scope: block.scope, folder: dirname(file), projectDir }
  const places = workers ?? plan.experiment.max_concurrent_arms ?? 1
  const asked = { file, text, projectDir, store, secretSource, clock: systemClock, places, signal, onNotice }
  const runs = await openCandidateRuns({ ...asked, sandbox, withCode })
  try {
    const { hidden } = runs.seal
    const answers = runs.base.checked.plan.experiment.metadata.benchmark.flatMap(({ path }) => path ?? [])
    if (withCode) checkScope(scoped, [...answers, ...hidden])
    const { objective, metadata } = judgedBy(runs.base.checked.plan)
    requireMeasured(runs.base.checked.plan, block, (path) => locate(undefined, path))
    const test = hiddenBenchmark(metadata.benchmark, objective.metric)
    const code = withCode ? await readScope(scoped) : {}
    const files: CandidateFiles = { ...code, [DOCUMENT]: text }
    const schemaOf = (type: Parameters<typeof runs.catalog.card>[0], kind: string) =>
      runs.catalog.card(type, kind)?.schema
    const derived = documentEdits.deriveCatalog({ files, document: DOCUMENT, block, schemaOf })
    if (derived.problems.length > 0) {
      throw EvsysError.many(derived.problems.map(({ message, fix }) => ({ code: 'CONFIG_INVALID', message, fix })))
    }
    const hashes = metadata.benchmark.map(({ name }) => [name, runs.scorerHash(name)])
    const document = withoutBlock(documentEdits.canonicalDocument(text))
    const forecast = await planForecast(store, runs.base.checked.plan)
    const task: ResearchTask = {
      name: `${plan.experiment.name}-research`,
      dir: dirname(file),
      file: TaskFile.parse({ name: plan.experiment.name, run: `evsys run ${relative(projectDir, file)}` }),
      metric: objective.metric,
      direction: objective.direction,
      seeds: seedsOf(plan),
      trainSeconds: Math.max(1, Math.round(forecast.wallS ?? USUAL_SECONDS)),
      secondary: block.secondary,
      baseline: files,
      knobs: Object.fromEntries(Object.entries(derived.catalog.knobs).map(([name, { spec }]) => [name, spec])),
      prompt: promptOf(plan, block),
      scope: block.scope,
      offLimits: block.off_limits,
      hash: hashOf({ objective, hashes, document, ...(withCode ? { code } : {}) }),
    }
    const codeRoot = candidatesFolder(projectDir)
    const executor = createExecutor({ task, runs, store, objective, test, block, scoped, codeRoot, answers })
    const { max_concurrent_arms: maxConcurrent } = plan.experiment
    const about = { name: plan.experiment.name, objective: `${objective.benchmark}.${objective.metric}` }
    return {
      ...about,
      executor,
      task,
      block,
      model: runs.base.run.config.model.name,
      isRepeatable: ['local', 'mock'].includes(runs.base.run.config.backend.kind),
      catalog: derived.catalog,
      hiddenTest: test?.name,
      sealed: [...new Set([...hidden, join(projectDir, '.evsys')])],
      maxConcurrent,
    }
  } catch (error) {
    await runs[Symbol.asyncDispose]()
    throw error
  }
}

/** What is guarded or chosen by has to be measured on what the objective is measured on. */
function requireMeasured(
  plan: Plan,
  { objective: choice, secondary }: ResearchBlock,
  locate: (path: readonly (string | number)[]) => Location | undefined,
): void {
  const { objective, metadata } = judgedBy(plan)
  const metrics = metadata.benchmark.find(({ name }) => name === objective.benchmark)?.metrics ?? []
  const names = metrics.map((each) => metricSpec(each).name).filter((name) => name !== objective.metric)
  const asked = [
    ...(choice === undefined ? [] : [{ metric: choice.cheapest, path: ['research', 'objective', 'cheapest'] }]),
    ...secondary.map(({ metric }, i) => ({ metric, path: ['research', 'secondary', i, 'metric'] })),
  ]
  const problems = asked.flatMap(({ metric, path }) => {
    const isMeasured = metric !== objective.metric && metricNamed(metrics, metric) !== undefined
    if (isMeasured) return []
    const known = names.length === 0 ? 'it has none beside the objective' : `it has ${names.join(', ')}`
    return [
      {
        code: 'CONFIG_INVALID' as const,
        message: `${path.join('.')}: the benchmark ${objective.benchmark} does not measure "${metric}" beside the objective; ${known}`,
        where: locate(path),
        fix: `add ${metric === objective.metric ? 'another metric' : metric} to the metrics of ${objective.benchmark}, or name one that it has.`,
      },
    ]
  })
  if (problems.length > 0) throw EvsysError.many(problems)
}

/** A training of which nothing is known takes this long, until one was measured. */
const USUAL_SECONDS = 30

// What a session may try and spend is no part of what its scores mean.
function withoutBlock(document: unknown): unknown {
  return isMapping(document) ? { ...document, research: undefined } : document
}

/** Seeds of races, where the file names none. */
const RACE_SEEDS = 5

function seedsOf({ runs }: Plan): number[] {
  const written = [...new Set(runs.map(({ seed }) => seed))].sort((a, b) => a - b)
  const more = Array.from({ length: RACE_SEEDS }, (_, i) => (written[0] ?? 0) + i)
  return [...new Set([...written, ...more])].slice(0, Math.max(RACE_SEEDS, written.length))
}

/** The run of the file; of several, the best arm that the record has of the same file. */
async function baselineArm(store: OpenStore, plan: Plan): Promise<PlannedArm> {
  const all = plan.arms.filter(({ name }) => name !== 'base_model')
  const arms = isStaged(plan) ? all.slice(-1) : all // the last stage is scored
  const [only] = arms
  if (only !== undefined && arms.length === 1) return only
  const known = await store.experiments({ limit: 100, configHash: plan.config_hash })
  const best = known.find(({ status, bestArm }) => status === 'completed' && bestArm !== undefined)?.bestArm
  const arm = arms.find(({ name }) => name === best)
  if (arm !== undefined) return arm
  throw new EvsysError(
    'CONFIG_CONFLICT',
    `${plan.experiment.name} has ${arms.length} arms, and the record says of none that it is the best`,
    {
      fix: 'run the file first (`evsys run FILE`): its best arm is the baseline. Or give a file of one run.',
    },
  )
}

function isStaged({ experiment }: Plan): boolean {
  return experiment.stages !== undefined
}

function judgedBy({ objective, experiment }: Plan) {
  const { metadata } = experiment
  const benchmark = metadata.benchmark.find(({ name }) => name === objective?.benchmark)
  if (objective !== undefined && benchmark?.split === 'val') return { objective, metadata }
  throw new EvsysError('CONFIG_INVALID', 'research needs an objective on a benchmark of the split `val`', {
    fix: 'write metadata.objective: { metric: val.pass@1, direction: max }, and the benchmark `val` with `split: val`.',
  })
}

/** The benchmark that is the hidden split: of the split `test`, with the metric that decides. */
export function hiddenBenchmark(benchmarks: readonly Benchmark[], metric: string): Benchmark | undefined {
  return benchmarks.find(({ split, metrics }) => split === 'test' && metricNamed(metrics, metric) !== undefined)
}

function promptOf({ experiment: { description, metadata } }: Plan, { scope }: ResearchBlock): string {
  const code = scope.length === 0 ? '' : `, and plugin files: ${scope.join(', ')}`
  return [
    description,
    metadata.hypothesis ?? '',
    `A candidate is the experiment file config.yaml with another recipe, data treatment or harness${code}. Benchmarks, metrics, seeds and budget stay as they are.`,
  ]
    .filter((text) => text !== '')
    .join('\n')
}

interface ExecutorParts {
  readonly task: ResearchTask
  readonly runs: CandidateRuns
  readonly store: OpenStore
  readonly objective: { readonly benchmark: string; readonly metric: string; readonly direction: Direction }
  readonly test: Benchmark | undefined
  readonly block: ResearchBlock
  readonly scoped: CodeScope
  /** Folder of the code of candidates. */
  readonly codeRoot: string
  /** Folders and files of benchmarks. */
  readonly answers: readonly string[]
}

function createExecutor(parts: ExecutorParts): Executor {
  const { task, runs, store, objective, test, block } = parts
  let held: { experimentId: string; lease: Lease } | undefined
  const { cards } = runs.base.checked
  const { level: shutIn, network = [] } = runs.shutIn ?? {}
  const placing = { baseline: codeOf(task.baseline, DOCUMENT), root: parts.codeRoot, scope: block.scope }
  const candidateOf = async (files: CandidateFiles) => ({
    text: files[DOCUMENT] ?? '',
    code: await placeCode(codeOf(files, DOCUMENT), placing),
  })
  return {
    task,
    trainings: {
      async plan(seed) {
        const { checked, run } = await runs.check({ ...(await candidateOf(task.baseline)), seed, split: 'val' })
        return sessionPlan(checked.plan, task, run)
      },
      provenance: {
        research_file: relative(runs.base.checked.projectDir, resolve(task.dir)),
        plugins: Object.fromEntries(cards.map(({ type, kind, hash }) => [`${type} ${kind}`, hash])),
        seal: runs.seal.level,
        sandbox: shutIn,
        network: network.length === 0 ? undefined : network,
        scope: block.scope.length === 0 ? undefined : block.scope,
      },
      async planned({ run, arm, seed, split, files }) {
        const { run: planned } = await runs.check({ ...(await candidateOf(files)), seed, split })
        return { ...planned, kind: 'training', name: run, arm, seed, config: { ...planned.config, name: arm } }
      },
      material: (of) => materialOf(parts, held?.experimentId, of),
      begun(experimentId, lease) {
        held = { experimentId, lease }
      },
    },
    async check(files, signal) {
      const forbidden = documentEdits.forbiddenChanges({
        before: task.baseline,
        after: files,
        document: DOCUMENT,
        offLimits: block.off_limits,
        scope: block.scope,
      })
      if (forbidden.length > 0) return forbidden
      const asking = runs.base.checked.plan.experiment.metadata.benchmark
      const benchmarks = asking.map(({ name }) => ({ name, questions: runs.questions(name) }))
      const read = [...codeFileProblems(codeOf(files, DOCUMENT)), ...memorised(files, task.baseline, benchmarks)]
      if (read.length > 0) return read
      try {
        const asked = { ...(await candidateOf(files)), seed: task.seeds[0] ?? 0, split: 'val' as const }
        const checked = await runs.check(asked)
        signal.throwIfAborted()
        await runs.compareRows(checked)
        return asked.code === undefined ? [] : await checkCode(parts, { ...asked, code: asked.code }, checked, signal)
      } catch (error) {
        signal.throwIfAborted()
        if (!EvsysError.is(error)) throw error
        return problemsOf(error).map(failureOfProblem)
      }
    },
    async run({ files, seed, split, trainSeconds, run, watch }, signal) {
      if (held === undefined || run === undefined)
        throw new EvsysError('INTERNAL', 'a candidate runs outside of a session')
      const experiment = await store.experiment(held.experimentId)
      const row = (await store.runs(held.experimentId)).find(({ name }) => name === run)
      if (experiment === undefined || row === undefined)
        throw new EvsysError('STORE_MISSING', `the record has no run ${run}`)
      const candidate = await runs.check({ ...(await candidateOf(files)), seed, split })
      const steps = Number(candidate.run.config.algorithm.params.max_steps ?? Number.NaN)
      const ended = new AbortController()
      let costUsd = 0
      const see = (evaluation: Pick<EvalRow, 'benchmark' | 'step' | 'metrics'>) => {
        const point = curvePoint(evaluation, objective, steps)
        if (point !== undefined && watch?.({ ...point, seconds: point.share * trainSeconds }) === 'kill') ended.abort()
      }
      const onItem = (item: Item) => {
        if (item.type === 'eval.finished') see(item)
      }
      const onEarlier = (evals: readonly EvalRow[]) => {
        for (const each of evals.toSorted((a, b) => (a.step ?? 0) - (b.step ?? 0))) see(each)
      }
      const onCost = (usd: number) => {
        costUsd += usd
      }
      const began = performance.now()
      const asked = {
        runId: row.id,
        experiment,
        lease: held.lease,
        stopping: signal,
        killing: ended.signal,
        onItem,
        onEarlier,
        onCost,
      }
      const done = await runs.run(candidate, asked).catch((error: unknown) => {
        if (ended.signal.aborted) return undefined
        throw error
      })
      signal.throwIfAborted()
      // All that it took is what the next one will take: starting, training, validation and scoring.
      const wallS = Math.max(done?.row.wallS ?? 0, (performance.now() - began) / 1000)
      if (done === undefined) return { status: 'killed', wallS }
      const benchmark = split === 'test' ? test?.name : objective.benchmark
      const outcome = outcomeOf(done, { benchmark: benchmark ?? '', metric: objective.metric, wallS, costUsd })
      if (outcome.status !== 'scored' || done.reused === undefined) return outcome
      const origin = await store.experiment(done.reused.experimentId)
      return { ...outcome, reusedFrom: `${origin?.name ?? done.reused.experimentId}/${done.reused.name}` }
    },
    [Symbol.asyncDispose]: () => runs[Symbol.asyncDispose](),
  }
}

/** Rows and points that a proposer sees. */
const mostSamples = 12
const mostPoints = 6

async function materialOf(
  { runs, store, objective, block, scoped }: ExecutorParts,
  experimentId: string | undefined,
  of: readonly { readonly attempt: string; readonly run: string }[],
): Promise<ExperimentMaterial> {
  const rows = experimentId === undefined ? [] : await store.runs(experimentId)
  const known = of.flatMap((each) => rows.flatMap((row) => (row.name === each.run ? [{ ...each, row }] : [])))
  const [first] = known
  const { benchmark, metric } = objective
  const answers =
    first === undefined ? [] : await answersOf(store, first.row, scoped.projectDir, { benchmark, step: undefined })
  const curves: ExperimentMaterial['curves'][number][] = []
  for (const { attempt, row } of known) {
    const loss = await lossCurve(store, row.id, mostPoints)
    if (loss !== undefined) curves.push({ attempt, ...loss })
    const points = (await store.evals(row.id)).flatMap(({ benchmark: own, step, metrics }): [number, number][] => {
      const value = own === benchmark && step !== undefined ? metrics[metric] : undefined
      return value === undefined ? [] : [[step ?? 0, value]]
    })
    if (points.length > 1) curves.push({ attempt, metric: `${benchmark}.${metric}`, points: points.slice(-mostPoints) })
  }
  return {
    rows: await runs.samples(mostSamples),
    answers: answers.map(({ task_id: task, instruction, expected, output, reward }) => {
      return { task, instruction, expected, output, reward }
    }),
    curves,
    kinds: [...runs.catalog.cards('transform'), ...runs.catalog.cards('algorithm')],
    offLimits: block.off_limits,
    scope: block.scope,
  }
}

/** What is wrong with the plugins of a candidate, by their cards and by a trial of two steps; what lies beside it stays as it is. */
async function checkCode(
  { task, runs, scoped, answers }: ExecutorParts,
  asked: Parameters<CandidateRuns['trial']>[0] & { readonly code: CandidateCode },
  { checked }: Pick<CheckedCandidate, 'checked'>,
  signal: AbortSignal,
): Promise<readonly AttemptFailure[]> {
  const { folder, projectDir } = scoped
  const wrong = pluginProblems(runs.catalog.cards(), checked.cards, { code: asked.code, folder, projectDir })
  if (wrong.length > 0) return wrong
  const own = runs.base.checked.cards.map(({ origin }) => join(projectDir, origin))
  const rows = runs.base.checked.trainingData.flatMap(({ data }) => data.path ?? [])
  const brought = Object.keys(codeOf(task.baseline, DOCUMENT)).map((path) => join(folder, path))
  const paths = [...new Set([...answers, ...rows, ...own, ...brought, join(projectDir, 'src', 'plugins')])]
  const before = await holdings(paths)
  const error = await runs.trial(asked, signal)
  const changed = changedHoldings(before, await holdings(paths))
  if (changed.length > 0) {
    const names = changed.slice(0, 5).map((path) => relative(projectDir, path))
    return [{ class: 'tamper', reason: `its code changed files that are not its own: ${names.join(', ')}` }]
  }
  if (error === undefined) return []
  const { class: kind, reason } = failureOf({ status: 'failed', error })
  return [{ class: kind, reason: `in a trial of two steps: ${reason}` }]
}

// With the place in its code and the way out, for the one who repairs it.
function failureOfProblem({ code, message, where, fix }: ReturnType<typeof problemsOf>[number]): AttemptFailure {
  const isCode = code === 'PLUGIN_LOAD' || code === 'PLUGIN_INVALID'
  const place = isCode && where !== undefined ? ` (${basename(where.file)}:${where.line})` : ''
  const isSyntax = code === 'PLUGIN_LOAD' && /syntax|unexpected|parse/i.test(message)
  const kind = isSyntax ? 'syntax' : code === 'DATA_LEAK' ? 'tamper' : 'validation'
  return { class: kind, reason: `${message}${place}${isCode && fix !== undefined ? `; ${fix}` : ''}` }
}

/** A point of the validation curve: training losses of two recipes do not compare. A curve is a loss: less of it is better. */
function curvePoint(
  item: Pick<EvalRow, 'benchmark' | 'step' | 'metrics'>,
  { benchmark, metric, direction }: ExecutorParts['objective'],
  steps: number,
) {
  if (item.step === undefined || item.benchmark !== benchmark) return undefined
  const value = item.metrics[metric]
  if (value === undefined || !(steps > 0)) return undefined
  return { share: (item.step + 1) / steps, value: direction === 'max' ? -value : value }
}

function outcomeOf(
  { row, evals }: Pick<Awaited<ReturnType<CandidateRuns['run']>>, 'row' | 'evals'>,
  { benchmark, metric, wallS, costUsd }: { benchmark: string; metric: string; wallS: number; costUsd: number },
): RunOutcome {
  const spent = (row.costUsd ?? 0) + costUsd
  const paid = { wallS, costUsd: spent === 0 ? undefined : spent }
  if (row.status !== 'completed') {
    return { status: 'failed', failure: failureOf(row), ...paid }
  }
  const found = selectedEval(row, evals, benchmark)
  const value = found?.metrics[metric]
  if (found === undefined || value === undefined) {
    const failed = evals.find((each) => each.benchmark === benchmark && each.error !== undefined)
    const reason = failed?.error?.message ?? `${benchmark} has no ${metric}`
    return { status: 'failed', failure: { class: 'infra', reason }, ...paid }
  }
  if (found.nInfraFailed > 0) {
    const reason = `${found.nInfraFailed} of its answers on ${benchmark} failed for reasons that are not its own`
    return { status: 'failed', failure: { class: 'infra', reason }, ...paid }
  }
  const { [metric]: _, ...secondary } = found.metrics
  return { status: 'scored', value, secondary, items: itemsOf(found, value), level: 'process', ...paid }
}

const CLASSES: readonly (readonly [RegExp, AttemptFailure['class']])[] = [
  [/out of memory|MEMORY/i, 'oom'],
  [/diverge|not finite|NaN/i, 'divergence'],
  [/timed out|TIMEOUT|took longer/i, 'timeout'],
]

function failureOf({ error, status }: Pick<RunRow, 'error' | 'status'>): AttemptFailure {
  const reason = error?.message ?? `its training ended ${status}`
  const found = CLASSES.find(([pattern]) => pattern.test(`${error?.code ?? ''} ${reason}`))
  return { class: found?.[1] ?? (error?.code.startsWith('BACKEND_') === true ? 'infra' : 'crash'), reason }
}

/** Outcomes by task, where their mean is the value. */
function itemsOf({ rewards }: EvalRow, value: number): readonly number[] | undefined {
  if (rewards === undefined) return undefined
  const tasks = Object.keys(rewards).sort()
  for (const worth of [(reward: number) => (reward >= 1 ? 1 : 0), (reward: number) => reward]) {
    const items = tasks.map((task) => mean((rewards[task] ?? []).map((reward) => worth(reward ?? 0))))
    if (items.length > 0 && Math.abs(mean(items) - value) < 1e-9) return items
  }
  return undefined
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}

/** What the record says of the session: the experiment of the file, with the baseline as its only run so far. */
function sessionPlan(plan: Plan, task: ResearchTask, run: TrainingRun): Plan {
  const { seed } = run
  const { metadata, research: _, ...experiment } = plan.experiment
  const { metric } = task
  const hypothesis = `There are changes of data, recipe or harness that improve ${metric} of ${experiment.name} beyond the baseline.`
  const tags = [...new Set([...metadata.tags, 'research'])]
  const name = task.name
  const described = `Research over an experiment file: candidates are edits of ${experiment.name}.`
  return {
    ...plan,
    experiment: { ...experiment, name, description: described, metadata: { ...metadata, hypothesis, tags } },
    config_hash: hashOf({ research: task.hash }),
    arms: [{ name: 'baseline', params: {}, seeds: [seed] }],
    runs: [
      { ...run, name: `baseline-s${seed}`, arm: 'baseline', seed, config: { ...run.config, name: 'baseline', seed } },
    ],
    notices: [],
  }
}
