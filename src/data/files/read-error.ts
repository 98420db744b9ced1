// A data file that cannot be read, as an error of the data it should have given.
import type { Stats } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { EvsysError, fileError, systemCode } from '../../kernel/index.ts'

/** The error for a file named `name` in which reading failed with `cause`. */
export function readError(name: string, cause: unknown): EvsysError {
  const { message, fix } = fileError('read', name, cause)
  const isMissing = systemCode(cause) === 'ENOENT'
  return new EvsysError('DATA_READ', message, {
    cause,
    fix: isMissing ? 'correct the path; it is relative to the file in which it is written.' : (fix ?? ''),
  })
}

/** For `catch`: what failed is an error of reading the file named so. */
export function failsToRead(name: string): (cause: unknown) => never {
  return (cause) => {
    throw readError(name, cause)
  }
}

/** Whether an error says that there is no such file or folder. */
export function isAbsent(cause: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemCode(cause) ?? '')
}

/** The names in a folder; none where there is no such folder. */
export async function namesIn(dir: string, { recursive = false } = {}): Promise<string[]> {
  try {
    return await readdir(dir, { recursive })
  } catch (cause) {
    if (isAbsent(cause)) return []
    throw fileError('list', dir, cause)
  }
}

/** The facts of a regular file. Anything else is an error: opening a pipe, for one, would wait for its other end. */
export async function fileStats(path: string, name: string): Promise<Stats> {
  try {
    const found = await stat(path)
    if (found.isFile()) return found
    throw Object.assign(new Error(), { code: found.isDirectory() ? 'EISDIR' : 'ENXIO' })
  } catch (cause) {
    throw readError(name, cause)
  }
}

// When a file counts as unchanged: its name, place on the disk, size and both of its times are what they were. The time of the last
// change to the file's entry (ctime) cannot be set back, so a file that was edited and given its old time again is noticed too.
/** The identity of a file named `name` in the data block; nothing of it is read. */
export async function fileIdentity(name: string, resolve: (path: string) => string) {
  try {
    const { size, ino, mtimeNs, ctimeNs } = await stat(resolve(name), { bigint: true })
    return { name, bytes: `${size}`, inode: `${ino}`, modified_ns: `${mtimeNs}`, changed_ns: `${ctimeNs}` }
  } catch (cause) {
    throw readError(name, cause)
  }
}
