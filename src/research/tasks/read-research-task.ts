// A research task as it is written: the file, the candidate that was asked for and its baseline. No data is fetched.
import { relative } from 'node:path'
import { type LoadedTask, loadTask } from '../../config/index.ts'
import {
  type CandidateFiles,
  durationSeconds,
  type ErrorRecord,
  type KnobValue,
  type Location,
  type TaskFile,
  type TaskRuntime,
} from '../../contracts/index.ts'
import { EvsysError, messageOf, type Problem, suggest, toRecord } from '../../kernel/index.ts'
import { allows, findKnobs } from '../propose/code/knobs.ts'
import { findTasks, type TaskPlace } from './find-tasks.ts'
import { matchesGlob, readScope, sharedApis, sharedPrefix, whyNoFile } from './task-files.ts'

export interface WrittenTask {
  readonly loaded: LoadedTask
  readonly fields: CandidateFields
  readonly baseline: CandidateFiles
}

/** Reads and checks one candidate of a task. Throws one `EvsysError` with every problem. */
export async function readResearchTask(
  { file }: Pick<TaskPlace, 'file'>,
  options: { readonly variant?: string | undefined; readonly cwd: string; readonly signal: AbortSignal },
): Promise<WrittenTask> {
  const { variant, cwd, signal } = options
  const loaded = await loadTask({ file: relative(cwd, file) || file }, { cwd, signal })
  const fields = resolveVariant(loaded, variant)
  const { problems, baseline } = await checkCandidate(loaded, fields)
  if (problems.length > 0) throw EvsysError.many(problems)
  return { loaded, fields, baseline }
}

/** Whether a task file is meant for research: jobs have neither a scorer nor knobs, nor data that is split. */
export function isResearchTask(task: TaskFile): boolean {
  const { metric, scorer, knobs, data, scope } = task
  return scope.length > 0 || [metric, scorer, knobs, data].some((field) => field !== undefined)
}

/** Checks every candidate of a task. */
export async function checkResearchTask(loaded: LoadedTask): Promise<Problem[]> {
  const found = new Map<string, Problem>()
  for (const variant of [undefined, ...Object.keys(loaded.task.variants ?? {})]) {
    const { problems } = await checkCandidate(loaded, resolveVariant(loaded, variant))
    // What the file says for all its candidates is reported once.
    for (const problem of problems) found.set(JSON.stringify([problem.message, problem.where]), problem)
  }
  return [...found.values()].sort((a, b) => (a.where?.line ?? 0) - (b.where?.line ?? 0))
}

// What holds for one candidate of a task: the fields of its variant over those of the file.
/** Fields of a task for one of its candidates. */
export type CandidateFields = Omit<TaskFile, 'variants' | 'api'> & {
  readonly variant?: string | undefined
  readonly api: readonly string[]
  readonly runtime: TaskRuntime
  /** Where a field was written. */
  readonly pathOf: (field: string) => readonly string[]
}

/** The candidate of the file itself, or of a variant. */
function resolveVariant({ task, locate }: LoadedTask, variant?: string): CandidateFields {
  const { variants = {}, ...fields } = task
  const chosen = variant === undefined ? undefined : variants[variant]
  if (variant !== undefined && chosen === undefined) {
    const names = Object.keys(variants)
    throw new EvsysError('CONFIG_INVALID', `the task ${task.name} has no variant "${variant}"`, {
      where: locate(['variants']),
      fix: names.length === 0 ? `write \`${task.name}\` alone.` : suggest(variant, names),
    })
  }
  // A prompt of the variant replaces the other form of it, too.
  const { prompt, prompt_file, ...others } = fields
  const words = chosen?.prompt === undefined && chosen?.prompt_file === undefined ? { prompt, prompt_file } : {}
  const merged = { ...others, ...defined(words), ...defined(chosen ?? {}) }
  const { api } = merged
  return {
    ...merged,
    variant,
    api: api === undefined ? [] : typeof api === 'string' ? [api] : api,
    runtime: merged.runtime ?? runtimeOf(merged.run),
    pathOf: (field) => (chosen !== undefined && field in chosen ? ['variants', variant ?? '', field] : [field]),
  }
}

function runtimeOf(run: string): TaskRuntime {
  const [first = ''] = run.trim().split(/\s+/)
  if (first === 'node') return 'node'
  return /^python(?:3(?:\.\d+)?)?$/.test(first) ? 'python' : 'command'
}

function defined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  // Keys that hold undefined are the ones left out.
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}

// Everything that is wrong with one candidate of a research task, found by reading: nothing is fetched and nothing is run.
type Complain = (field: string, message: string, fix: string, below?: readonly (string | number)[]) => void

/** Problems at the text that is wrong, and the baseline where it could be read. */
async function checkCandidate(
  loaded: LoadedTask,
  fields: CandidateFields,
): Promise<{ problems: Problem[]; baseline: CandidateFiles }> {
  const problems: Problem[] = []
  const complain: Complain = (field, message, fix, below = []) => {
    const where: Location = loaded.locate([...fields.pathOf(field), ...below])
    const code =
      message.endsWith('does not exist') || message.includes('folder of the task') ? 'CONFIG_PATH' : 'CONFIG_INVALID'
    problems.push({ code, message, where, fix })
  }
  checkFields(fields, complain)
  for (const [field, path] of namedFiles(fields)) {
    const why = await whyNoFile(loaded.dir, path)
    if (why !== undefined) complain(field, `${path} ${why}`, `write the file, or correct \`${field}\`.`)
  }
  for (const field of ['scope', 'off_limits'] as const)
    for (const [i, glob] of fields[field].entries())
      if (leadsOut(glob)) {
        const fix = 'name files in it, such as train.mjs or src/**.'
        complain(field, `${glob} leads out of the folder of the task`, fix, [i])
      }
  const baseline = await readScope(loaded.dir, { scope: fields.scope, offLimits: fields.off_limits })
  checkBaseline(fields, baseline, complain)
  return { problems, baseline }
}

/** A glob is relative, with forward slashes, and stays below its folder. */
function leadsOut(glob: string): boolean {
  return /^(?:[\\/]|[A-Za-z]:)/.test(glob) || glob.split(/[\\/]/).includes('..')
}

/** Files that a task names beside those in scope. */
function namedFiles(fields: CandidateFields): [field: string, path: string][] {
  const { scorer, api, data, prompt_file } = fields
  const own = api.filter((path) => !path.startsWith(sharedPrefix))
  const named = [['scorer', scorer], ...own.map((path) => ['api', path]), ['data', data?.prepare]]
  return [...named, ['prompt_file', prompt_file]].filter((each): each is [string, string] => each[1] !== undefined)
}

const needed = {
  metric: 'Name what the scorer returns, such as `metric: error_rate`.',
  direction: 'Write `direction: min` or `direction: max`.',
  train_seconds: 'Say how long one experiment may train, such as `train_seconds: 30`.',
  scope: 'List the files that a candidate may change, such as `scope: [train.mjs]`.',
  data: 'Say what makes the splits, such as `data: { prepare: prepare.mjs }`.',
} as const

function checkFields(fields: CandidateFields, complain: Complain): void {
  const isTable = fields.runtime === 'table'
  for (const [field, fix] of Object.entries(needed)) {
    const value = Reflect.get(fields, field)
    const isMissing = value === undefined || (Array.isArray(value) && value.length === 0)
    const isNeeded = !(isTable && field === 'train_seconds')
    if (isMissing && isNeeded) complain(field, `a research task needs \`${field}\``, fix)
  }
  if (!isTable && fields.scorer === undefined)
    complain('scorer', 'a research task needs `scorer`', 'Name the sealed module, such as `scorer: scorer.mjs`.')
  if (isTable && fields.scorer !== undefined)
    complain('scorer', 'a table is looked up, and scored by nothing', 'leave `scorer` out.')
  const { least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY } = fields.bounds ?? {}
  if (least >= most) complain('bounds', '`least` is not below `most`', 'swap them, or leave one out.')
  if (isTable && fields.timed === true)
    complain('timed', 'a table is looked up, which takes no time', 'leave `timed` out.')
  if (fields.prompt !== undefined && fields.prompt_file !== undefined)
    complain('prompt_file', '`prompt` and `prompt_file` are both there', 'keep one of them.')
  if (Array.isArray(fields.seeds) && new Set(fields.seeds).size < fields.seeds.length)
    complain('seeds', 'a seed stands in the list twice', 'give every seed once.')
  if (fields.packages !== undefined && fields.packages.length > 0 && fields.runtime !== 'python')
    complain('packages', 'packages are for candidates in Python', 'leave `packages` out, or use `runtime: python`.')
  for (const path of fields.api.filter((each) => each.startsWith(sharedPrefix))) {
    const known = sharedApis(fields.runtime)
    if (!known.includes(path)) complain('api', `no API is called ${path}`, suggest(path, known))
  }
  if (fields.engine === true && fields.runtime !== 'node')
    complain('engine', 'the embedded engine is for candidates in Node', 'leave `engine` out, or use `runtime: node`.')
}

function checkBaseline(fields: CandidateFields, baseline: CandidateFiles, complain: Complain): void {
  if (fields.scope.length > 0 && Object.keys(baseline).length === 0)
    complain('scope', 'no file of the folder is in scope', 'write the baseline: its files are where a search begins.')
  for (const [field, path] of namedFiles(fields)) {
    if (matchesGlob(path, fields.scope) && !matchesGlob(path, fields.off_limits))
      complain('scope', `${path} is in scope, and it is the \`${field}\``, 'leave it out of `scope`.')
  }
  const knobs = fields.knobs ?? {}
  // The axes of a table are known when its data is.
  const { knobs: values } = findKnobs(baseline, knobs)
  for (const [name, spec] of Object.entries(knobs)) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    const at = [name]
    if (spec.kind === 'range' && spec.low >= spec.high)
      complain('knobs', `the range from ${spec.low} to ${spec.high} is empty`, 'put the smaller bound first.', at)
    else if (spec.kind === 'range' && spec.log && spec.low <= 0)
      complain('knobs', 'equal factors need a range above 0', 'raise `low`, or leave `log` out.', at)
    else if (value === undefined)
      complain('knobs', 'the baseline has no constant of this name, or two', missing(name, values), at)
    else if (!allows(spec, value))
      complain('knobs', `the baseline has ${JSON.stringify(value)}, which is not allowed`, 'widen the knob.', at)
  }
}

function missing(name: string, values: Readonly<Record<string, KnobValue>>): string {
  return suggest(name, Object.keys(values), { more: `A knob is a line such as \`const ${name} = 0.1\` in the code.` })
}

// The tasks that can be named, with what a list shows of each. One that cannot be read hides none of the others.
export interface TaskCard extends TaskPlace {
  readonly description?: string | undefined
  readonly kind: 'research' | 'job' | 'unknown'
  readonly metric?: string | undefined
  readonly direction?: string | undefined
  readonly runtime?: string | undefined
  readonly train_seconds?: number | undefined
  readonly variants: readonly string[]
  /** Why it cannot be read. */
  readonly errors: readonly ErrorRecord[]
}

/** All tasks that have a name: those of the project first. */
export async function taskCards(options: {
  projectDir?: string | undefined
  cwd: string
  signal: AbortSignal
}): Promise<TaskCard[]> {
  return await Promise.all((await findTasks(options)).map((place) => cardOf(place, options)))
}

async function cardOf(place: TaskPlace, { cwd, signal }: { cwd: string; signal: AbortSignal }): Promise<TaskCard> {
  try {
    const loaded = await loadTask({ file: place.file }, { cwd, signal })
    const { metric, direction, train_seconds, runtime } = resolveVariant(loaded)
    const isResearch = isResearchTask(loaded.task)
    return {
      ...place,
      description: loaded.task.description,
      kind: isResearch ? 'research' : 'job',
      metric,
      direction,
      runtime: isResearch ? runtime : undefined,
      train_seconds: train_seconds === undefined ? undefined : durationSeconds(train_seconds),
      variants: Object.keys(loaded.task.variants ?? {}),
      errors: [],
    }
  } catch (error) {
    if (signal.aborted) throw error
    const problems = EvsysError.is(error) ? error.problems : new EvsysError('INTERNAL', messageOf(error)).problems
    return { ...place, kind: 'unknown', variants: [], errors: problems.map(toRecord) }
  }
}
