// When a file counts as unchanged: its name, place on the disk, size and both of its times are what they were. The time of the last
// change to the file's entry (ctime) cannot be set back, so a file that was edited and given its old time again is noticed too.
import { stat } from 'node:fs/promises'
import { readError } from './read-error.ts'

export interface FileIdentity {
  readonly name: string
  readonly bytes: string
  readonly inode: string
  readonly modified_ns: string
  readonly changed_ns: string
}

/** The identity of a file named `name` in the data block; nothing of it is read. */
export async function fileIdentity(name: string, resolve: (path: string) => string): Promise<FileIdentity> {
  try {
    const { size, ino, mtimeNs, ctimeNs } = await stat(resolve(name), { bigint: true })
    return { name, bytes: `${size}`, inode: `${ino}`, modified_ns: `${mtimeNs}`, changed_ns: `${ctimeNs}` }
  } catch (cause) {
    throw readError(name, cause)
  }
}
