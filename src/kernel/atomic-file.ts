// Files that are replaced as a whole. A reader, or the next process after a kill -9, a power loss or a full disk, finds
// the old content or the new one, never a part.

import { createHash, randomBytes } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { type FileHandle, lstat, open, readdir, readlink, rename, rm, stat, unlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileError, ifPresent, systemCode } from './file-error.ts'
import { isAlive } from './process-identity.ts'

/**
 * Replaces the file at `path`, in one step, by `data`. A symbolic link is followed; the folder must exist. The file keeps the permissions
 * of the one it replaces. `sync` waits until the disk has the content and the name; without it a power loss may undo the write.
 */
export async function writeFileAtomic(path: string, data: string | Uint8Array, { sync = true } = {}): Promise<void> {
  try {
    const target = await followLinks(path)
    const old = await existing(target)
    const temporary = temporaryPath(dirname(target))
    try {
      await writeNew(temporary, data, { sync, old })
      await rename(temporary, target)
    } catch (cause) {
      await unlink(temporary).catch(() => {}) // the first failure is the one to report
      throw cause
    }
    if (sync) await syncFolder(dirname(target))
  } catch (cause) {
    throw fileError('write', path, cause)
  }
}

/** Makes new, renamed and deleted names in a folder survive a power loss. */
export async function syncFolder(dir: string): Promise<void> {
  if (process.platform === 'win32') return // folders cannot be opened there; NTFS journals names itself
  await using folder = await open(dir, 'r')
  try {
    await folder.sync()
  } catch (cause) {
    const code = systemCode(cause)
    if (code !== 'EINVAL' && code !== 'ENOTSUP') throw cause // some network disks cannot, and say so
  }
}

type Owner = { mode: number; uid: number; gid: number }

async function writeNew(
  path: string,
  data: string | Uint8Array,
  { sync, old }: { sync: boolean; old: Owner | undefined },
): Promise<void> {
  // Created with no more than the wanted permissions: a secret file is at no moment readable by others.
  await using file = await open(path, 'wx', old?.mode ?? 0o666)
  await file.writeFile(data)
  if (old !== undefined) {
    await keepOwner(file, old)
    await file.chmod(old.mode)
  }
  if (sync) await file.sync()
}

// Root, or a member of the group, rewrites a user's file: it stays the user's.
async function keepOwner(handle: FileHandle, old: Owner): Promise<void> {
  const now = await handle.stat()
  if (now.uid === old.uid && now.gid === old.gid) return
  try {
    await handle.chown(old.uid, old.gid)
  } catch (cause) {
    if (systemCode(cause) !== 'EPERM') throw cause // only root may give a file away
  }
}

async function existing(path: string): Promise<Owner | undefined> {
  try {
    const found = await stat(path)
    if (found.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' })
    if (!found.isFile()) throw Object.assign(new Error(), { code: 'ENXIO' }) // never replace a device or a pipe
    return { mode: found.mode & 0o7777, uid: found.uid, gid: found.gid }
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return undefined
    throw cause
  }
}

// realpath(3) fails on a link to a file that does not exist yet, and that is a file we may create.
async function followLinks(path: string): Promise<string> {
  let target = resolve(path)
  for (let links = 0; links < 40; links++) {
    try {
      if (!(await lstat(target)).isSymbolicLink()) return target
    } catch (cause) {
      if (systemCode(cause) === 'ENOENT') return target
      throw cause
    }
    target = resolve(dirname(target), await readlink(target))
  }
  throw Object.assign(new Error(), { code: 'ELOOP' })
}

// Names of unfinished files and folders, and the removal of those whose writer died. A name says who writes it, so that a sweep in one
// process never removes what another is still writing.
const pattern = /^\.evsys-(?<machine>[0-9a-f]{8})-(?<pid>[1-9]\d{0,9})-[0-9a-f]{16}\.tmp$/

// Whether a writer on another machine still lives cannot be asked; no one writes one file for a day.
const foreignAgeMs = 24 * 60 * 60 * 1000

/** A fresh name in `dir`. It does not hold the target's name, which may already be as long as names can be. */
export function temporaryPath(dir: string): string {
  return join(dir, `.evsys-${thisMachine()}-${process.pid}-${randomBytes(8).toString('hex')}.tmp`)
}

/**
 * Removes the unfinished files and folders that dead processes left in `dir` and returns their names. Files of another machine (or
 * container) count as dead after a day without a write. A folder that does not exist has none. `ofAll`: no one writes there any more, whatever
 * the names say; in a sandbox processes have numbers that others have outside.
 */
export async function sweepTemporary(
  dir: string,
  { nowMs = Date.now(), ofAll = false }: { nowMs?: number | undefined; ofAll?: boolean | undefined } = {},
): Promise<string[]> {
  const removed: string[] = []
  for (const name of (await ifPresent('list', dir, () => readdir(dir))) ?? []) {
    const parts = pattern.exec(name)?.groups
    if (parts === undefined) continue
    const path = join(dir, name)
    const isDead = async () =>
      parts.machine === thisMachine()
        ? !isAlive({ pid: Number(parts.pid), start: '' })
        : (await ageMs(path, nowMs)) > foreignAgeMs
    if ((ofAll || (await isDead())) && (await remove(path))) removed.push(name)
  }
  return removed.sort()
}

// 0: finished or swept meanwhile.
async function ageMs(path: string, nowMs: number): Promise<number> {
  return (await ifPresent('inspect', path, async () => nowMs - (await lstat(path)).mtimeMs)) ?? 0
}

// False: another sweep was faster.
async function remove(path: string): Promise<boolean> {
  const removed = ifPresent('delete', path, async () => {
    await rm(path, { recursive: true }) // a file, or a folder of files
    return true
  })
  return (await removed) ?? false
}

let machine: string | undefined

// Process ids mean something only within one host and one pid namespace (containers may share a hostname).
function thisMachine(): string {
  machine ??= createHash('sha256').update(`${hostname()}\n${pidNamespace()}`).digest('hex').slice(0, 8)
  return machine
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return '' // no Linux, no namespaces
  }
}
