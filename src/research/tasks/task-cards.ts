// The tasks that can be named, with what a list shows of each. One that cannot be read hides none of the others.
import { loadTask } from '../../config/index.ts'
import { durationSeconds, type ErrorRecord } from '../../contracts/index.ts'
import { EvsysError, messageOf, toRecord } from '../../kernel/index.ts'
import { findTasks, type TaskPlace } from './find-tasks.ts'
import { isResearchTask } from './read-research-task.ts'
import { resolveVariant } from './resolve-variant.ts'

export interface TaskCard extends TaskPlace {
  readonly description?: string
  readonly kind: 'research' | 'job' | 'unknown'
  readonly metric?: string
  readonly direction?: string
  readonly runtime?: string
  readonly train_seconds?: number
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
    const { description } = loaded.task
    const isResearch = isResearchTask(loaded.task)
    return {
      ...place,
      ...(description === undefined ? {} : { description }),
      kind: isResearch ? 'research' : 'job',
      ...(metric === undefined ? {} : { metric }),
      ...(direction === undefined ? {} : { direction }),
      ...(isResearch ? { runtime } : {}),
      ...(train_seconds === undefined ? {} : { train_seconds: durationSeconds(train_seconds) }),
      variants: Object.keys(loaded.task.variants ?? {}),
      errors: [],
    }
  } catch (error) {
    if (signal.aborted) throw error
    const problems = EvsysError.is(error) ? error.problems : new EvsysError('INTERNAL', messageOf(error)).problems
    return { ...place, kind: 'unknown', variants: [], errors: problems.map(toRecord) }
  }
}
