// Folders in the system's temporary directory, or another that processes share. Each is named after the process that owns it: it is deleted
// when that process ends, and what a killed one left is deleted by the next process that makes one there.
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { identify, isAlive } from './process-identity.ts'

/** Makes a folder. Delete it when it is no longer needed; at the latest the end of this process does. */
export function temporaryFolder(purpose: string, directory = tmpdir()): string {
  const { pid, start } = identify()
  if (swept.size === 0) {
    process.once('exit', () => {
      for (const folder of made) remove(folder)
    })
  }
  if (!swept.has(directory)) {
    swept.add(directory)
    sweepTemporaryFolders(directory)
  }
  const folder = mkdtempSync(join(directory, `evsys-${purpose}-${pid}-${start || 0}-${processSpace()}-`))
  made.add(folder)
  return folder
}

const made = new Set<string>()
const swept = new Set<string>()

const ownedName = /^evsys-[a-z]+-(\d+)-(\d+)-(\d+)-[^-]+$/

/** Deletes folders of processes that are gone, and returns their names. */
export function sweepTemporaryFolders(directory = tmpdir()): string[] {
  return names(directory).flatMap((name) => {
    const [, pid, start, space] = ownedName.exec(name) ?? []
    // A process of another container cannot be seen from here, and may be alive.
    if (pid === undefined || space !== processSpace()) return []
    if (isAlive({ pid: Number(pid), start: start === undefined || start === '0' ? '' : start })) return []
    return remove(join(directory, name)) ? [basename(name)] : []
  })
}

let space: string | undefined

/** Where pids mean the same: the namespace of this process, 0 where there are none. */
function processSpace(): string {
  if (space === undefined) {
    try {
      space = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
    } catch {
      space = '0'
    }
  }
  return space
}

function names(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

function remove(folder: string): boolean {
  try {
    rmSync(folder, { recursive: true, force: true })
    return true
  } catch {
    return false // of another user
  }
}
