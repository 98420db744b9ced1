// Patterns of an artifact's `exclude`, as `tar --exclude` reads them: a pattern matches a whole path or any part of its end.
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ignoreRules } from '../task/ignore-rules.ts'

/** Removes what `patterns` exclude from a folder that was copied to this machine. */
export async function pruneExcluded(folder: string, patterns: readonly string[]): Promise<void> {
  if (patterns.length === 0) return
  const excluded = ignoreRules(patterns)
  const visit = async (relative: string): Promise<void> => {
    for (const entry of await readdir(join(folder, relative), { withFileTypes: true })) {
      const path = relative === '' ? entry.name : `${relative}/${entry.name}`
      // A pattern such as `build/` means folders: what is in one has a path that it matches.
      if (excluded(path) || (entry.isDirectory() && excluded(`${path}/x`))) {
        await rm(join(folder, path), { recursive: true, force: true })
      } else if (entry.isDirectory()) await visit(path)
    }
  }
  await visit('')
}
