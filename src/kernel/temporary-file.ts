// Names of unfinished files and folders, and the removal of those whose writer died. A name tells who writes it, so that a sweep in one
// process never removes what another is still writing.
import { createHash, randomBytes } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { lstat, readdir, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileError, systemCode } from './file-error.ts'

const pattern = /^\.evsys-(?<machine>[0-9a-f]{8})-(?<pid>[1-9]\d{0,9})-[0-9a-f]{16}\.tmp$/

// Whether a writer on another machine still lives cannot be asked; nobody writes one file for a day.
const foreignAgeMs = 24 * 60 * 60 * 1000

/** A fresh name in `dir`. It does not hold the target's name, which may already be as long as names can be. */
export function temporaryPath(dir: string): string {
  return join(dir, `.evsys-${thisMachine()}-${process.pid}-${randomBytes(8).toString('hex')}.tmp`)
}

/** Whether a file name is one that `temporaryPath` makes. */
export function isTemporary(name: string): boolean {
  return pattern.test(name)
}

/**
 * Removes the unfinished files and folders that dead processes left in `dir` and returns their names. Files of another machine (or
 * container) count as dead after a day without a write. A folder that does not exist has none.
 */
export async function sweepTemporary(dir: string, { nowMs = Date.now() }: { nowMs?: number } = {}): Promise<string[]> {
  const removed: string[] = []
  for (const name of await namesIn(dir)) {
    const parts = pattern.exec(name)?.groups
    if (parts === undefined) continue
    const path = join(dir, name)
    const dead =
      parts.machine === thisMachine() ? !isAlive(Number(parts.pid)) : (await ageMs(path, nowMs)) > foreignAgeMs
    if (dead && (await remove(path))) removed.push(name)
  }
  return removed.sort()
}

async function namesIn(dir: string): Promise<string[]> {
  try {
    return await readdir(dir)
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return []
    throw fileError('list', dir, cause)
  }
}

async function ageMs(path: string, nowMs: number): Promise<number> {
  try {
    return nowMs - (await lstat(path)).mtimeMs
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return 0 // finished or swept meanwhile
    throw fileError('look at', path, cause)
  }
}

async function remove(path: string): Promise<boolean> {
  try {
    await rm(path, { recursive: true }) // a file, or a folder of files
    return true
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return false // another sweep was faster
    throw fileError('delete', path, cause)
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0) // signal 0 only asks
    return true
  } catch (cause) {
    return systemCode(cause) !== 'ESRCH' // EPERM: it lives and belongs to somebody else
  }
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
