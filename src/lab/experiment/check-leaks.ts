// Before any run starts: do training rows repeat the questions of a benchmark? The questions come from the scorers, which keep the
// answers; rows come from the cache, or are put there now. Rows that plugins of the project make are made in a separate process
// and compared here, out of reach of those plugins.
import { builtins } from '../../builtins/index.ts'
import type {
  AnyPlugin,
  Benchmark,
  ErrorRecord,
  Experiment,
  Leak,
  Notice,
  RowFormat,
  SealedTask,
} from '../../contracts/index.ts'
import {
  checkedRowsFolder,
  createLeakIndex,
  dataPlugins,
  type FoundLeaks,
  knownLeaks,
  type LeakTarget,
  leakCacheFolder,
  type OpenRows,
  openCachedRows,
  openRows,
  rowCacheFolder,
  type SampledRows,
  sampleRows,
  sourceKind,
  splitsOf,
} from '../../data/index.ts'
import {
  builtInHash,
  createRegistry,
  EvsysError,
  hashOf,
  keyedRandom,
  type PluginReference,
  type PluginServices,
  type Problem,
  withoutUndefined,
} from '../../kernel/index.ts'
import { recipeHashes } from '../workers/recipe-hashes.ts'
import type { WorkerSandbox } from '../workers/worker-sandbox.ts'
import type { BenchmarkSeal } from './benchmark-seal.ts'
import type { TrainingData } from './check-experiment.ts'

/** Longest that plugins of the project may take to make rows for this, where no limit is given; the run itself may take longer. */
const LONGEST_MS = 60_000

interface CheckLeaksOptions {
  readonly benchmarks: readonly Benchmark[]
  /** `leaks` of the experiment. */
  readonly leaks?: Experiment['leaks']
  /** The questions of a benchmark. */
  tasks(benchmark: string): readonly SealedTask[]
  readonly trainingData: readonly TrainingData[]
  readonly projectDir: string
  readonly plugins: readonly PluginReference[]
  /** What the plugins of the project must not see meanwhile. */
  readonly seal: Pick<BenchmarkSeal, 'hidden'>
  /** How recipe code is shut in; absent: it is not. */
  readonly sandbox?: WorkerSandbox | undefined
  readonly limits?: { readonly blockedMs?: number | undefined } | undefined
  /** Folder with the caches; absent: the project. */
  readonly cachedIn?: string | undefined
  /** Rows are read without a benchmark too, and a fault of them is thrown. */
  readonly everyRow?: boolean | undefined
  /** The folder that plugins of the project make rows in; absent: that of the project. */
  readonly elsewhere?:
    | {
        readonly folder: string
        /** Why rows could not be made. */
        onFailed?(error: ErrorRecord): void
      }
    | undefined
  readonly signal: AbortSignal
}

export interface FoundInData {
  readonly leaks: readonly Leak[]
  readonly notices: readonly Notice[]
  /** Whether all rows could be compared. */
  readonly isWhole: boolean
}

/** The leaks that the experiment allows, and what a reader should know. Leaks that it does not allow are thrown, all at once. */
export async function checkLeaks(options: CheckLeaksOptions): Promise<FoundInData> {
  const { trainingData, benchmarks, everyRow = false, cachedIn = options.projectDir, signal } = options
  const notices: Notice[] = []
  if (benchmarks.length === 0 && !everyRow) return { leaks: [], notices, isWhole: true }
  const targets = new Map(benchmarks.map((each) => [each.name, targetOf(each, options.tasks(each.name))]))
  const allowed: Leak[] = []
  const problems: Problem[] = []
  let isWhole = true
  const rules = new Map(benchmarks.map((each) => [each.name, leakRule(each, options.leaks)]))
  for (const each of trainingData) {
    if (benchmarks.length === 0 && !each.isBuiltIn) continue
    for await (const opened of rowsOf(each, options)) {
      if (opened === undefined) {
        isWhole = false
        notices.push({ text: uncheckedText(each) })
        continue
      }
      const found = await knownLeaks(opened, targets, { dir: leakCacheFolder(cachedIn), signal })
      for (const [benchmark, leaks] of found) {
        if (leaks.exact + leaks.near === 0) continue
        const { rows, exact, near, pairs } = leaks
        const rule = rules.get(benchmark)
        const dropped = rule === 'drop' ? (true as const) : undefined
        if (isRefused(leaks, rule)) problems.push(problemOf(benchmark, leaks))
        else
          allowed.push(
            withoutUndefined({ benchmark, arms: [...each.arms], rows, exact, near, pairs: [...pairs], dropped }),
          )
      }
    }
  }
  if (problems.length > 0) throw EvsysError.many(problems)
  return { leaks: allowed, notices: [...notices, ...allowed.map((leak) => ({ text: leakText(leak) }))], isWhole }
}

function targetOf({ chat_template }: Benchmark, tasks: readonly SealedTask[]): LeakTarget {
  const { user_template: template } = chat_template
  return { hash: hashOf({ tasks, template: template ?? null }), index: createLeakIndex(tasks, { template }) }
}

// Rows with a fault are left to the run that trains on them, which reports what is wrong with them, unless every row is asked for.
async function* rowsOf(
  each: TrainingData,
  options: CheckLeaksOptions,
): AsyncGenerator<OpenRows<RowFormat> | undefined, void, undefined> {
  for (const seed of new Set(each.seeds)) {
    const opened = each.isBuiltIn ? await openHere(each, seed, options) : await openElsewhere(each, seed, options)
    if (opened !== undefined || !each.isBuiltIn) yield opened
    if (opened === undefined) return
    if (opened.key !== undefined && opened.manifest()?.lineage.seed === undefined) return // the same rows for every seed
  }
}

async function openHere(
  { data, format }: TrainingData,
  seed: number,
  { projectDir, cachedIn = projectDir, everyRow, signal }: CheckLeaksOptions,
): Promise<OpenRows<RowFormat> | undefined> {
  const cache = { dir: rowCacheFolder(cachedIn), seed, codeHash: builtInHash }
  try {
    const services = servicesOf(seed, signal, await moreSources(data))
    return await openRows({ data, format, services, projectDir, cache })
  } catch (error) {
    if (signal.aborted || everyRow === true || !isFaultOfData(error)) throw error
    return undefined
  }
}

async function openElsewhere(
  { data, config, callbacks }: TrainingData,
  seed: number,
  { projectDir, cachedIn = projectDir, plugins, seal, sandbox, limits, elsewhere, signal }: CheckLeaksOptions,
): Promise<OpenRows<RowFormat> | undefined> {
  const { mix: _mix, ...alone } = config
  const recipe = { key: 'data', config: { ...alone, data, seed }, callbacks: [...callbacks] }
  const cacheDir = elsewhere?.folder ?? checkedRowsFolder(cachedIn)
  const limit = AbortSignal.timeout(Math.min(LONGEST_MS, limits?.blockedMs ?? LONGEST_MS))
  try {
    const either = AbortSignal.any([signal, limit])
    const place = { projectDir, plugins, cacheDir, hidden: seal.hidden, sandbox }
    const [made] = await recipeHashes([recipe], { ...place, signal: either })
    if (made?.error !== undefined) elsewhere?.onFailed?.(made.error)
    if (made?.data_key === undefined) return undefined
    return await openCachedRows(cacheDir, made.data_key, servicesOf(seed, signal))
  } catch (error) {
    if (signal.aborted || !limit.aborted) throw error
    return undefined
  }
}

/** Some of the rows that a run trains on, before anything but a split was done to them; undefined: plugins of the project make them. */
export async function sampleTraining(
  { data }: Pick<TrainingData, 'data'>,
  { projectDir, isOurs, most, signal }: SampleOptions,
): Promise<SampledRows | undefined> {
  const first = data.transforms.slice(0, splitsOf(data)).map(({ kind }) => ['transform', kind] as const)
  const used = [['data_source', sourceKind(data)] as const, ...first]
  if (data.store !== undefined || !used.every(([type, kind]) => isOurs(type, kind))) return undefined
  return await sampleRows({ data, services: servicesOf(0, signal, await moreSources(data)), projectDir }, most)
}

interface SampleOptions {
  readonly projectDir: string
  /** Whether a plugin comes with evsys: then the controller may run it. */
  isOurs(type: 'data_source' | 'transform', kind: string): boolean
  readonly most: number
  readonly signal: AbortSignal
}

/** The source of a data block, where it comes with another room. */
async function moreSources(data: TrainingData['data']): Promise<AnyPlugin[]> {
  const isIt = ({ type, kind }: AnyPlugin) => type === 'data_source' && kind === sourceKind(data)
  return dataPlugins.some(isIt) ? [] : (await builtins()).filter(isIt)
}

function servicesOf(seed: number, signal: AbortSignal, more: readonly AnyPlugin[] = []): PluginServices {
  const registry = createRegistry()
  for (const plugin of [...dataPlugins, ...more]) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
  return {
    registry,
    signal,
    random: (...path) => keyedRandom(seed, ...path),
    log: () => {},
    secret(name) {
      throw new EvsysError('SECRET_MISSING', `the secret ${name} is not used to read data`)
    },
  }
}

function isFaultOfData(error: unknown): boolean {
  return EvsysError.is(error) && ['DATA_READ', 'DATA_INVALID', 'PLUGIN_PARAMS', 'PLUGIN_FAILED'].includes(error.code)
}

function leakText({ benchmark, rows, exact, near, dropped }: Leak): string {
  if (dropped === true)
    return `${exact + near} of ${rows} training rows repeat questions of ${benchmark} and are left out.`
  return `${exact + near} of ${rows} training rows repeat questions of ${benchmark}, which the experiment allows.`
}

function uncheckedText({ arms }: TrainingData): string {
  return `the training rows of ${arms.join(', ')} could not be compared with the benchmarks: they cannot be made before the run.`
}

type LeakRule = 'drop' | 'warn' | 'refuse' | 'refuse_exact'

/** What happens to training rows that repeat its questions: what the benchmark says, else the experiment. */
export function leakRule({ leaks: own }: Pick<Benchmark, 'leaks'>, ofExperiment: Experiment['leaks']): LeakRule {
  if (own === undefined) return ofExperiment ?? 'refuse'
  return ({ error: 'refuse', allow: 'warn', allow_near: 'refuse_exact' } as const)[own]
}

function isRefused({ exact }: FoundLeaks, rule: LeakRule | undefined): boolean {
  return rule === 'refuse' || rule === undefined || (rule === 'refuse_exact' && exact > 0)
}

/** Pairs that a message names. */
const namedPairs = 5

function problemOf(benchmark: string, { rows, exact, near, pairs }: FoundLeaks): Problem {
  const total = exact + near
  const counts = [...(exact > 0 ? [`${exact} exactly`] : []), ...(near > 0 ? [`${near} nearly`] : [])].join(', ')
  const named = pairs.slice(0, namedPairs).map(({ place, task_id, kind, share }) => {
    const how = kind === 'exact' ? 'is' : `holds ${Math.round(share * 100)} % of`
    return `${place} ${how} task "${task_id}"`
  })
  const rest = total > named.length ? `; and ${total - named.length} more` : ''
  const [, file, line] = /^(.+):([1-9]\d{0,14})$/s.exec(pairs[0]?.place ?? '') ?? []
  return {
    code: 'DATA_LEAK',
    message: `${total} of ${rows} training rows repeat questions of benchmark "${benchmark}" (${counts}): ${named.join('; ')}${rest}`,
    where: file === undefined ? undefined : { file, line: Number(line), col: 1 },
    pairs: [...pairs],
    fix: `take these rows out of the training data, or write \`leaks: drop\` in the experiment to leave them out; where they are meant, write \`leaks: ${exact > 0 ? 'allow' : 'allow_near'}\` in the benchmark, and the result reports them.`,
  }
}
