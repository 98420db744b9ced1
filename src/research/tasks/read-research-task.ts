// A research task as it is written: the file, the candidate that was asked for and its baseline. No data is fetched.
import { relative } from 'node:path'
import { type LoadedTask, loadTask } from '../../config/index.ts'
import type { CandidateFiles, TaskFile } from '../../contracts/index.ts'
import { EvsysError, type Problem } from '../../kernel/index.ts'
import { checkCandidate } from './check-candidate.ts'
import type { TaskPlace } from './find-tasks.ts'
import { type CandidateFields, resolveVariant } from './resolve-variant.ts'

export interface WrittenTask {
  readonly loaded: LoadedTask
  readonly fields: CandidateFields
  readonly baseline: CandidateFiles
}

/** Reads and checks one candidate of a task. Throws one `EvsysError` with every problem. */
export async function readResearchTask(
  { file }: Pick<TaskPlace, 'file'>,
  { variant, cwd, signal }: { readonly variant?: string; readonly cwd: string; readonly signal: AbortSignal },
): Promise<WrittenTask> {
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
    // What the file says for all its candidates is told once.
    for (const problem of problems) found.set(JSON.stringify([problem.message, problem.where]), problem)
  }
  return [...found.values()].sort((a, b) => (a.where?.line ?? 0) - (b.where?.line ?? 0))
}
