// Where a project keeps what can be made again from its data.
import { join } from 'node:path'

/** Rows after their transforms. */
export function rowCacheFolder(projectDir: string): string {
  return join(projectDir, '.evsys', 'cache', 'datasets')
}

/** Rows that plugins of the project made to be compared with benchmarks. Apart: a run makes its own. */
export function checkedRowsFolder(projectDir: string): string {
  return join(projectDir, '.evsys', 'cache', 'checked')
}

/** What was found when rows were compared with benchmarks. */
export function leakCacheFolder(projectDir: string): string {
  return join(projectDir, '.evsys', 'cache', 'leaks')
}

/** Rows as the tokens of a model. */
export function tokenCacheFolder(projectDir: string): string {
  return join(projectDir, '.evsys', 'cache', 'tokens')
}

/** Splits that research tasks made of their data. */
export function taskCacheFolder(projectDir: string): string {
  return join(projectDir, '.evsys', 'cache', 'tasks')
}
