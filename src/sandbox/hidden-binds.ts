// Paths below the folders of the machine that every sandbox shows, a project in /usr/src for one, with nothing in their place.
import { mkdirSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bind } from './bind.ts'
import { systemFolders } from './system-binds.ts'

/** Binds over those of `paths` that could be seen; `folder` holds the nothing. */
export function hiddenBinds(paths: readonly string[], folder: string): Bind[] {
  const seen = new Set(paths.flatMap(realPath).filter(isOfSystem))
  if (seen.size === 0) return []
  const [emptyFolder, emptyFile] = [join(folder, 'folder'), join(folder, 'file')]
  mkdirSync(emptyFolder, { recursive: true, mode: 0o755 })
  writeFileSync(emptyFile, '', { mode: 0o644 })
  return [...seen].map((target) => ({
    source: statSync(target).isDirectory() ? emptyFolder : emptyFile,
    target,
    writable: false,
  }))
}

function realPath(path: string): string[] {
  try {
    return [realpathSync(path)]
  } catch {
    return [] // what is not there cannot be seen
  }
}

function isOfSystem(path: string): boolean {
  return systemFolders.some((folder) => path.startsWith(`${folder}/`))
}
