// Gives a tree to the account of a sandbox. What is in the tree may change while we walk, by hands that would like us to give
// them something else: every folder is opened without following links, and entries are reached through that open folder.
import { closeSync, constants, lchownSync, lstatSync, openSync, readdirSync } from 'node:fs'
import { systemCode } from '../kernel/index.ts'
import type { Account } from './account.ts'

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
