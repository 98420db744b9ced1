// Read-only mounts as root: a file that only its owner may read cannot be read by the account of a sandbox either. Such a
// source is shown as a copy that belongs to the account; its own files are left as they are.
import { cpSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Account } from './account.ts'
import { adoptTree } from './adopt-tree.ts'

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
