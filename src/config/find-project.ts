// Which folder is the project. `.evsys/` says so; before anything has run, plugins or a package do.
import { stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

/** The project that `start`, a folder, lies in; itself when no folder above it looks like one. */
export async function findProject(start: string): Promise<string> {
  const folders = [...ancestors(resolve(start))]
  for (const folder of folders) if (await isThere(join(folder, '.evsys'), 'folder')) return folder
  for (const folder of folders) {
    if (await isThere(join(folder, 'src', 'plugins'), 'folder')) return folder
    if (await isThere(join(folder, 'package.json'), 'file')) return folder
  }
  return resolve(start)
}

function* ancestors(folder: string): Generator<string> {
  yield folder
  if (dirname(folder) !== folder) yield* ancestors(dirname(folder))
}

async function isThere(path: string, what: 'file' | 'folder'): Promise<boolean> {
  try {
    const found = await stat(path)
    return what === 'file' ? found.isFile() : found.isDirectory()
  } catch {
    return false // what cannot be looked at is no sign of a project
  }
}
