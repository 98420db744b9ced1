// Removal of what untrusted code left: folders deeper than any path, hundreds of thousands of files, names that are no text, rights that
// stand in the way. Links are removed, never followed. The calls are those that wait, a few milliseconds at a time: the others take ten
// times as long for each file, and everything else has its turns in between.
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  unlinkSync,
} from 'node:fs'
import { rmdir } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemCode } from '../../kernel/index.ts'

const anyFolder = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY
/** Folders that are removed at once. */
const mostEmpty = 64
/** How long other work waits. */
const turnMs = 10

let moved = 0

/**
 * Removes a folder at any depth: its folders are brought up to `trash`, or to `path` itself, one by one, so that no path is too long.
 * Linux alone: it leans on /proc/self/fd to name what is in an open folder.
 */
export async function removeDeepTree(path: string, trash = path): Promise<void> {
  const ahead = [path]
  const empty: string[] = []
  let since = performance.now()
  for (let folder = ahead.pop(); folder !== undefined; folder = ahead.pop()) {
    const handle = openOwned(folder)
    try {
      for (const name of readdirSync(`/proc/self/fd/${handle}`, { encoding: 'buffer' })) {
        if (performance.now() - since > turnMs) {
          await nextTurn()
          since = performance.now()
        }
        const inner = Buffer.concat([Buffer.from(`/proc/self/fd/${handle}/`), name])
        if (!isRemoved(inner)) ahead.push(moveUp(inner, trash))
      }
    } finally {
      closeSync(handle)
    }
    if (folder !== path) empty.push(folder)
    if (empty.length >= mostEmpty) await removeEmpty(empty)
  }
  await removeEmpty(empty)
  await rmdir(path)
}

// The one call of these that takes long, several at once.
async function removeEmpty(folders: string[]): Promise<void> {
  await Promise.all(folders.splice(0).map((folder) => rmdir(folder)))
}

/** Removes what is no folder. */
function isRemoved(path: Buffer): boolean {
  if (lstatSync(path).isDirectory()) return false
  unlinkSync(path)
  return true
}

function moveUp(path: Buffer, trash: string): string {
  const target = `${trash}/.removed-${process.pid}-${moved++}`
  try {
    renameSync(path, target)
  } catch (error) {
    if (systemCode(error) !== 'EACCES') throw error
    allow(path)
    renameSync(path, target)
  }
  return target
}

// A folder without rights for its owner can be neither opened nor moved by an ordinary user. What is moved is out of reach already.
function openOwned(path: string): number {
  try {
    const handle = openSync(path, anyFolder)
    try {
      fchmodSync(handle, 0o700)
    } catch (error) {
      if (systemCode(error) !== 'EPERM') throw error
    }
    return handle
  } catch (error) {
    if (systemCode(error) !== 'EACCES') throw error
    allow(path)
    return openSync(path, anyFolder)
  }
}

// `chmod` follows links, hence the check first. Needed for folders of an ordinary user alone, whose processes inside have ended.
function allow(path: string | Buffer): void {
  if (lstatSync(path).isDirectory()) chmodSync(path, 0o700)
}
