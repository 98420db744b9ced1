// Who a command really is. Inside it is root; outside it is the user who runs evsys, or, when that is root, an account
// that owns nothing on this machine. Mapped to the real root it could write the settings of the kernel under /proc/sys.
import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  cpSync,
  lchownSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { systemCode } from '../kernel/index.ts'

export interface Account {
  readonly uid: number
  readonly gid: number
}

/** Far above the accounts of people, services and containers. */
const first = 1_900_000_000
const count = 10_000_000
const nobody = 65_534

/** The account for the sandbox of a folder; undefined: commands stay who we are. */
export function accountFor(stateDir: string): Account | undefined {
  if (process.getuid?.() !== 0 || hasNoOther()) return undefined
  const number = createHash('sha256').update(stateDir).digest().readUInt32BE(0) % count
  const uid = highestUid() >= first + count ? first + number : nobody
  return { uid, gid: uid }
}

/** We are root of a namespace that knows no one else: which account that is outside, and what it may do there, is not known. */
export function hasNoOther(): boolean {
  return process.getuid?.() === 0 && highestUid() === 0
}

// In a container that maps few accounts, most numbers do not exist.
function highestUid(): number {
  try {
    const lines = readFileSync('/proc/self/uid_map', 'latin1').trim().split('\n')
    return Math.max(
      ...lines.map((line) => {
        const [inside = 0, , length = 0] = line.trim().split(/\s+/).map(Number)
        return inside + length - 1
      }),
    )
  } catch {
    return nobody
  }
}

// Gives a tree to the account of a sandbox. What is in the tree may change while we walk, by hands that would like us to give
// them something else: every folder is opened without following links, and entries are reached through that open folder.

/** Every file and folder at `path` belongs to the account afterwards. Only root may ask for it. */
export function adoptTree(path: string, account: Account): void {
  own(path, account)
  if (lstatSync(path).isDirectory()) adoptFolder(path, account)
}

function adoptFolder(path: string, account: Account): void {
  const folder = openFolder(path)
  if (folder === undefined) return
  try {
    const here = `/proc/self/fd/${folder}`
    for (const entry of readdirSync(here, { withFileTypes: true })) {
      const each = `${here}/${entry.name}`
      own(each, account)
      if (entry.isDirectory()) adoptFolder(each, account)
    }
  } finally {
    closeSync(folder)
  }
}

function openFolder(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  } catch (cause) {
    if (isGone(cause)) return undefined
    throw cause
  }
}

function own(path: string, { uid, gid }: Account): void {
  try {
    const now = lstatSync(path)
    if (now.uid !== uid || now.gid !== gid) lchownSync(path, uid, gid)
  } catch (cause) {
    if (!isGone(cause)) throw cause
  }
}

function isGone(cause: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(systemCode(cause) ?? '')
}

// Read-only mounts as root: a file that only its owner may read cannot be read by the account of a sandbox either. Such a
// source is shown as a copy that belongs to the account; its own files are left as they are.

/** `source`, or a copy of it at `place` where others may not read it. */
export function readableSource(source: string, place: string, account: Account): string {
  if (isOpen(source)) return source
  rmSync(place, { recursive: true, force: true })
  cpSync(source, place, { recursive: true, verbatimSymlinks: true })
  adoptTree(place, account)
  return place
}

function isOpen(path: string): boolean {
  const stats = lstatSync(path)
  if (stats.isSymbolicLink()) return true
  if (!stats.isDirectory()) return (stats.mode & 0o004) !== 0
  return (stats.mode & 0o005) === 0o005 && readdirSync(path).every((name) => isOpen(join(path, name)))
}
