// Puts files into a folder without ever replacing one.
import { lstat, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileError, systemCode } from '../../kernel/index.ts'
import type { ScaffoldFile } from './project-files.ts'

export interface Written {
  readonly created: readonly string[]
  /** Files that were there before and are untouched. */
  readonly kept: readonly string[]
}

/** The paths among `files` that something stands at already. */
export async function existingPaths(dir: string, files: readonly ScaffoldFile[]): Promise<string[]> {
  const found = await Promise.all(files.map(async ({ path }) => ((await stands(join(dir, path))) ? [path] : [])))
  return found.flat()
}

/** Writes every file that is not there yet. */
export async function writeScaffold(dir: string, files: readonly ScaffoldFile[]): Promise<Written> {
  const created: string[] = []
  const kept: string[] = []
  for (const { path, text } of files) {
    const target = join(dir, path)
    try {
      await mkdir(dirname(target), { recursive: true })
      await writeFile(target, text, { flag: 'wx' }) // never through a link, never over what came in between
      created.push(path)
    } catch (cause) {
      if (systemCode(cause) !== 'EEXIST' || !(await stands(target))) throw fileError('write', target, cause)
      kept.push(path)
    }
  }
  return { created, kept }
}

/** Whether anything stands at a path, a broken link included. */
export async function stands(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return false
    throw fileError('look at', path, cause)
  }
}
