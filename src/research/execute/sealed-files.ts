// Files that no candidate may change, and proof that none has: hashed when a task is opened, checked before and after every
// run. A check compares the status of each file; only where that differs is the content hashed again.
import { createHash } from 'node:crypto'
import { createReadStream, type Dirent } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

export interface SealedFiles {
  readonly hash: string
  /** Paths that are not what they were. */
  changed(): Promise<readonly string[]>
}

interface Seal {
  readonly status: string
  readonly hash: string
}

/**
 * `paths` are files or folders; a folder counts with all that is below it but node_modules, hidden folders and what is in
 * `except`.
 */
export async function sealFiles(paths: readonly string[], except: readonly string[] = []): Promise<SealedFiles> {
  const seals = new Map<string, Seal>()
  const free = new Set(except)
  const sealed = async () => new Map([...(await statuses(paths))].filter(([path]) => !free.has(path)))
  for (const [path, status] of await sealed()) seals.set(path, { status, hash: await hashFile(path) })
  const digest = createHash('sha256')
  for (const { hash } of seals.values()) digest.update(hash)
  return {
    hash: digest.digest('hex'),
    async changed() {
      const now = await sealed()
      const changed = [...seals.keys()].filter((path) => !now.has(path))
      for (const [path, status] of now) {
        const seal = seals.get(path)
        if (seal === undefined) changed.push(path)
        else if (seal.status !== status && seal.hash !== (await hashFile(path))) changed.push(path)
      }
      return changed
    },
  }
}

async function statuses(paths: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const path of paths) await readStatus(path, found)
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}

async function readStatus(path: string, found: Map<string, string>): Promise<void> {
  const stats = await lstat(path, { bigint: true }).catch(() => undefined)
  if (stats === undefined) return
  if (stats.isDirectory()) {
    const entries: Dirent[] = await readdir(path, { withFileTypes: true })
    for (const entry of entries) {
      if (entry.isDirectory() && (entry.name === 'node_modules' || entry.name.startsWith('.'))) continue
      if (entry.name === '__pycache__') continue
      await readStatus(join(path, entry.name), found)
    }
    return
  }
  found.set(path, [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs, stats.mode].join(' '))
}

async function hashFile(path: string): Promise<string> {
  const stats = await lstat(path)
  const hash = createHash('sha256')
  if (stats.isSymbolicLink()) hash.update(`link ${await readlink(path)}`)
  else if (stats.isFile()) await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
