// From the name of a task to a task that can be run: the file is checked, its data is there, and its program is known to start here.
import { join } from 'node:path'
import {
  type CandidateFiles,
  durationSeconds,
  type ResearchTask,
  type SecondaryMetric,
  type TaskProgram,
} from '../../contracts/index.ts'
import { EvsysError, hashOf } from '../../kernel/index.ts'
import { moduleHash } from './data/module-hash.ts'
import { type PrepareOptions, prepareSplits } from './data/prepare-splits.ts'
import { engineMounts } from './engine/engine-mounts.ts'
import { findAccelerator } from './find-accelerator.ts'
import { findPython } from './find-python.ts'
import { findTask } from './find-tasks.ts'
import { preparedTable, type ReadTable, readTable, tableNamed } from './look-up-table.ts'
import { type CandidateFields, readResearchTask, type WrittenTask } from './read-research-task.ts'
import { readTaskText, sharedFiles, sharedPrefix } from './task-files.ts'

export interface LoadResearchTaskOptions {
  readonly projectDir: string
  readonly signal: AbortSignal
  /** Folder that a path is relative to. Absent: the project. */
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** In place of the task's own: another experiment, whose scores do not compare. */
  readonly trainSeconds?: number | undefined
  /** Called with what takes a while: data that is fetched, kernels that are built. */
  readonly onNotice?: ((text: string) => void) | undefined
}

/** Loads `NAME`, `NAME/VARIANT` or a path. Fetches data where the cache has none. */
export async function loadResearchTask(reference: string, options: LoadResearchTaskOptions): Promise<ResearchTask> {
  const { projectDir, signal, cwd = projectDir, env = process.env, onNotice } = options
  const { place, variant } = await findTask(reference, { projectDir, cwd })
  const settings = { projectDir, signal, env, onNotice }
  const isTableName = variant !== undefined && (await isTable(place.file, { cwd, signal }, variant))
  const written = await readResearchTask(place, { cwd, signal, variant: isTableName ? undefined : variant })
  if (written.fields.runtime === 'table') {
    const named = isTableName ? await readTable(tableNamed(variant, env)) : undefined
    return await tableTask(written, named, settings)
  }
  return await programTask(written, settings, options.trainSeconds)
}

// A variant that a table does not declare is a table of EVSYS_DATA_DIR.
async function isTable(file: string, options: { cwd: string; signal: AbortSignal }, variant: string): Promise<boolean> {
  const { fields, loaded } = await readResearchTask({ file }, options)
  return fields.runtime === 'table' && loaded.task.variants?.[variant] === undefined
}

type Settings = PrepareOptions

async function tableTask(written: WrittenTask, named: ReadTable | undefined, settings: Settings) {
  const { loaded, fields } = written
  const table = named ?? (await readTable(preparedTable((await prepared(written, settings, ['table'])).dir)))
  const own = named === undefined ? written.baseline : table.baseline
  return {
    ...common(written, table.direction),
    variant: named?.name ?? fields.variant,
    seeds: seedsOf(fields.seeds, table.seeds),
    trainSeconds: 0,
    baseline: own,
    knobs: table.knobs,
    prompt: await promptOf(loaded.dir, fields),
    table: table.table,
    hash: hashOf({ name: loaded.task.name, metric: fields.metric, table: table.hash }),
  }
}

async function programTask(written: WrittenTask, settings: Settings, asked: number | undefined): Promise<ResearchTask> {
  const { loaded, fields, baseline } = written
  const { metric, direction, scorer, train_seconds } = fields
  if (metric === undefined || direction === undefined || scorer === undefined || train_seconds === undefined)
    throw new EvsysError('INTERNAL', 'a task without metric, direction, scorer or train_seconds was taken for checked')
  const trainSeconds = asked ?? durationSeconds(train_seconds)
  const program = await programOf(written, { scorer, trainSeconds }, settings)
  const data = await prepared(written, settings)
  return {
    ...common(written, direction),
    seeds: seedsOf(fields.seeds),
    trainSeconds,
    baseline,
    knobs: fields.knobs ?? {},
    prompt: await promptOf(loaded.dir, fields),
    program: { ...program, trainData: join(data.dir, 'train'), sealedData: data.dir },
    hash: hashOf({
      name: loaded.task.name,
      variant: fields.variant ?? null,
      metric,
      direction,
      trainSeconds,
      data: data.hash,
      scorer: await moduleHash(program.scorer),
      api: program.api,
      command: fields.run,
      memory: program.memoryBytes,
      accelerator: fields.accelerator === true ? (program.accelerator?.name ?? 'cpu') : undefined,
    }),
  }
}

function common({ loaded, fields }: WrittenTask, direction: ResearchTask['direction']) {
  return {
    name: loaded.task.name,
    dir: loaded.dir,
    file: loaded.task,
    metric: fields.metric ?? 'score',
    direction,
    unit: fields.unit,
    timed: fields.timed,
    bounds: fields.bounds,
    variant: fields.variant,
    secondary: fields.secondary.filter((each): each is SecondaryMetric => typeof each !== 'string'),
    scope: fields.scope,
    offLimits: fields.off_limits,
  }
}

async function prepared({ loaded, fields }: WrittenTask, settings: Settings, folders?: readonly string[]) {
  if (fields.data === undefined) throw new EvsysError('INTERNAL', 'a task without data was taken for checked')
  return await prepareSplits(loaded.dir, fields.data, { ...settings, folders })
}

/** Threads that wait for each other must not spin: beside any other process that made training ten times slower. */
const pythonEnv = {
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONUNBUFFERED: '1',
  PYTHONHASHSEED: '0',
  OMP_WAIT_POLICY: 'PASSIVE',
}

type Program = Omit<TaskProgram, 'trainData' | 'sealedData'>

async function programOf(
  { loaded, fields }: WrittenTask,
  { scorer, trainSeconds }: { scorer: string; trainSeconds: number },
  settings: Settings,
): Promise<Program> {
  const { runtime, limits = {}, packages = [] } = fields
  const language = runtime === 'table' ? 'command' : runtime
  const others = Object.keys(loaded.task.variants ?? {}).filter((name) => name !== fields.variant)
  const instead =
    others.length === 0 ? undefined : `take ${others.map((name) => `\`${loaded.task.name}/${name}\``).join(' or ')}`
  const python = language === 'python' ? await findPython(packages, { ...settings, instead }) : undefined
  const engine = fields.engine === true ? await engineMounts(settings) : undefined
  return {
    language,
    command: python === undefined ? fields.run : fields.run.replace(/^\s*\S+/, () => shellQuoted(python.executable)),
    api: await apiOf(loaded.dir, fields),
    scorer: join(loaded.dir, scorer),
    packages,
    requiredCalls: fields.required_calls ?? [],
    mounts: [...(python?.mounts ?? []), ...(engine?.mounts ?? [])],
    engine: engine?.module,
    accelerator: acceleratorOf(loaded.task.name, fields, settings),
    env: { ...(python && pythonEnv), ...engine?.env },
    memoryBytes: Math.round((limits.memory_gb ?? 4) * 1e9),
    processes: limits.processes ?? 64,
    diskBytes: Math.round((limits.disk_gb ?? 1) * 1e9),
    startSeconds: durationSeconds(limits.start_seconds ?? 30),
    answerSeconds: durationSeconds(limits.answer_seconds ?? 120),
    scorerSeconds: durationSeconds(limits.scorer_seconds ?? 60 + 2 * trainSeconds),
  }
}

// A GPU changes what seconds are worth: the hash of a task that asks for one names it.
function acceleratorOf(name: string, fields: CandidateFields, { env, onNotice }: Settings) {
  if (fields.accelerator !== true) return undefined
  const found = findAccelerator({ env })
  if (typeof found !== 'string') return found
  onNotice?.(`"${name}" is made for a GPU, and its candidates train on the CPU: ${found}`)
  return undefined
}

async function apiOf(dir: string, { api, runtime }: CandidateFields): Promise<CandidateFiles> {
  const own = api.filter((path) => !path.startsWith(sharedPrefix))
  const texts = await Promise.all(own.map(async (path) => [path, await readTaskText(dir, path)] as const))
  return { ...(await sharedFiles(runtime, api)), ...Object.fromEntries(texts) }
}

async function promptOf(dir: string, { prompt, prompt_file }: CandidateFields): Promise<string> {
  return prompt ?? (prompt_file === undefined ? '' : await readTaskText(dir, prompt_file))
}

/** As many as most tasks can pay for. */
const usualSeeds = 3

function seedsOf(seeds: CandidateFields['seeds'], most = Number.POSITIVE_INFINITY): readonly number[] {
  if (Array.isArray(seeds)) return seeds
  return Array.from({ length: Math.min(seeds ?? usualSeeds, most) }, (_, seed) => seed)
}

function shellQuoted(text: string): string {
  return /^[\w./@+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
