// Files of an environment as part of the record of a trial. They were made by code that nobody trusts: only plain files and folders come
// through, and none takes the place of what is there already.
import { chmod, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { OpenEnvironment } from '../../contracts/index.ts'
import { temporaryPath } from '../../kernel/index.ts'

/** Copies a folder of the environment into `target`. What cannot be taken along is told by name. */
export async function bringHome(
  environment: OpenEnvironment,
  source: string,
  target: string,
): Promise<{ leftOut: string[] }> {
  const staging = temporaryPath(dirname(target))
  try {
    await environment.download(source, staging)
    const leftOut: string[] = []
    await mkdir(target, { recursive: true })
    await takeOver(staging, target, '', leftOut)
    return { leftOut }
  } finally {
    await removeTree(staging)
  }
}

async function takeOver(from: string, to: string, prefix: string, leftOut: string[]): Promise<void> {
  const there = new Set(await readdir(to))
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target, name] = [join(from, entry.name), join(to, entry.name), `${prefix}${entry.name}`]
    if (entry.isDirectory()) {
      if (there.has(entry.name) && !(await lstat(target)).isDirectory()) {
        leftOut.push(name)
        continue
      }
      await chmod(source, 0o755) // a folder without permissions could not be read
      await mkdir(target, { recursive: true })
      await takeOver(source, target, `${name}/`, leftOut)
    } else if (entry.isFile() && !there.has(entry.name)) {
      await chmod(source, 0o644)
      await rename(source, target)
    } else leftOut.push(name)
  }
}

/** Removes a folder, also one whose permissions stand in the way. Links are removed, never followed. */
export async function removeTree(dir: string): Promise<void> {
  try {
    await rm(dir, { recursive: true, force: true })
  } catch {
    await openFolders(dir)
    await rm(dir, { recursive: true, force: true })
  }
}

async function openFolders(dir: string): Promise<void> {
  await chmod(dir, 0o700)
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    if (entry.isDirectory()) await openFolders(join(dir, entry.name))
  }
}
