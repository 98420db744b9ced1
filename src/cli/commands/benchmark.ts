// `evsys benchmark run | upload`: a model on a benchmark, or an agent on task folders; a benchmark folder as a named version of this
// project.
import { resolve } from 'node:path'
import { keepBenchmark } from '../../evaluate/index.ts'
import { EvsysError, suggest, systemClock } from '../../kernel/index.ts'
import { loadLab } from '../../lab/index.ts'
import { holdsTaskFolders } from '../../rollout/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { requireProject } from '../context/project.ts'
import { type FolderOptions, runFolders, runJobFile } from './benchmark-folders.ts'
import { evalCommand } from './eval.ts'

export type BenchmarkOptions = FolderOptions & {
  readonly path?: string | undefined
  readonly id?: string | undefined
  readonly name?: string | undefined
}

const benchmarkActions = ['run', 'upload'] as const

export async function benchmark(
  context: CommandContext,
  action: string,
  folder: string | undefined,
  options: BenchmarkOptions,
): Promise<ExitCode> {
  if (action === 'run') return await run(context, folder, options)
  if (action === 'upload') return await upload(context, folder, options)
  throw new EvsysError('CLI_USAGE', `there is no "benchmark ${action}"`, { fix: suggest(action, benchmarkActions) })
}

/** What counts for task folders alone. */
const folderFlags = [
  ['agent', '--agent'],
  ['agentParams', '--agent-params'],
  ['environment', '--environment'],
  ['output', '--output'],
  ['maxTurns', '--max-turns'],
  ['retries', '--retries'],
] as const

async function run(context: CommandContext, folder: string | undefined, options: BenchmarkOptions): Promise<ExitCode> {
  const { path = folder, id, name, ...rest } = options
  const named = [path, id, name].flatMap((each) => each ?? [])
  const [reference] = named
  if (reference === undefined || named.length > 1) {
    throw new EvsysError('CLI_USAGE', 'benchmark run takes one benchmark', {
      fix: 'give it --path FOLDER, --id NAME@VERSION or --name NAME.',
    })
  }
  if (path !== undefined && (await holdsTaskFolders(resolve(context.cwd, path))))
    return await runFolders(context, path, rest)
  const { isJobFile } = await loadLab()
  if (path !== undefined && isJobFile(path)) return await runJobFile(context, path, rest)
  const { model, ...scoring } = rest
  const misplaced = folderFlags.filter(([key]) => rest[key] !== undefined)
  if (misplaced.length > 0) {
    throw new EvsysError(
      'CLI_USAGE',
      `${misplaced.map(([, flag]) => flag).join(', ')}: only for task folders, and ${reference} holds none`,
    )
  }
  if (model === undefined) {
    throw new EvsysError('CLI_USAGE', 'benchmark run needs a model', {
      fix: 'add --model claude-sonnet-4-6, or another.',
    })
  }
  return await evalCommand(context, model, { ...scoring, benchmark: reference })
}

// The central server comes later: until then a named benchmark belongs to this project alone.
async function upload(
  context: CommandContext,
  folder: string | undefined,
  { name }: BenchmarkOptions,
): Promise<ExitCode> {
  const { output, cwd, signal } = context
  if (folder === undefined) {
    throw new EvsysError('CLI_USAGE', 'benchmark upload needs a folder', {
      fix: 'name the folder that holds tasks.jsonl.',
    })
  }
  const project = await requireProject(context)
  const at = new Date(systemClock.now()).toISOString()
  const kept = await keepBenchmark(project, resolve(cwd, folder), { at, signal, name })
  output.result(kept, () => {
    const { benchmark_id, status, n_tasks, content_hash } = kept
    const what = { created: 'kept', updated: 'kept a new version:', unchanged: 'already kept:' }[status]
    const first = `${output.colors.green(what)} ${benchmark_id}, ${n_tasks} tasks, ${content_hash.slice(0, 12)}`
    return output.quiet
      ? first
      : `${first}\nIt is kept in this project alone: this version of evsys has no server to upload to.`
  })
  return exitCodes.done
}
