// Garbage collection: entries that were not used for a while are deleted. What is missing is made again.
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileError, sweepTemporary, systemCode } from '../../kernel/index.ts'
import {
  checkedRowsFolder,
  dropEntry,
  leakCacheFolder,
  rowCacheFolder,
  taskCacheFolder,
  tokenCacheFolder,
} from './cache-entry.ts'

export interface CollectedCache {
  readonly entries: number
  readonly bytes: number
}

/** Removes the entries of a project's caches that were last used before a time, and what dead writers left. */
export async function collectCache(
  projectDir: string,
  { before, signal }: { before: string; signal: AbortSignal },
): Promise<CollectedCache> {
  const beforeMs = Date.parse(before)
  let entries = 0
  let bytes = 0
  for (const folderOf of [rowCacheFolder, tokenCacheFolder, leakCacheFolder, checkedRowsFolder, taskCacheFolder]) {
    const root = folderOf(projectDir)
    await sweepTemporary(root)
    for (const key of await namesIn(root)) {
      signal.throwIfAborted()
      const used = await lastUse(join(root, key))
      if (key.startsWith('.') || used === undefined || used >= beforeMs) continue
      bytes += await sizeOf(join(root, key))
      await dropEntry(root, key)
      entries++
    }
  }
  return { entries, bytes }
}

async function lastUse(dir: string): Promise<number | undefined> {
  try {
    return (await stat(join(dir, 'manifest.json'))).mtimeMs
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(cause) ?? '')) return undefined
    throw fileError('look at', dir, cause)
  }
}

async function sizeOf(dir: string): Promise<number> {
  const sizes = (await namesIn(dir, { recursive: true })).map(async (name) => {
    const found = await stat(join(dir, name)).catch(() => undefined)
    return found?.isFile() === true ? found.size : 0
  })
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

async function namesIn(dir: string, { recursive = false } = {}): Promise<string[]> {
  try {
    return await readdir(dir, { recursive })
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(cause) ?? '')) return []
    throw fileError('list', dir, cause)
  }
}
