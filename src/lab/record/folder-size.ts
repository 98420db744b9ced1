// How much a folder holds. Links are counted, not followed; what disappears meanwhile is not counted.
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileError, systemCode } from '../../kernel/index.ts'

export interface FolderSize {
  readonly bytes: number
  readonly files: number
}

export async function folderSize(path: string, signal: AbortSignal): Promise<FolderSize> {
  let bytes = 0
  let files = 0
  const waiting = [path]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    signal.throwIfAborted()
    const folder = next
    const entries = await unlessGone(folder, () => readdir(folder, { withFileTypes: true }))
    for (const entry of entries ?? []) {
      const child = join(folder, entry.name)
      if (entry.isDirectory()) {
        waiting.push(child)
        continue
      }
      const found = await unlessGone(child, () => lstat(child))
      if (found === undefined) continue
      bytes += found.size
      files += 1
    }
  }
  return { bytes, files }
}

async function unlessGone<T>(path: string, look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look()
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return undefined
    throw fileError('look at', path, cause)
  }
}
