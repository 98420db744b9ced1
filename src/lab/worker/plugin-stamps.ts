// Whether plugin files are still what a worker loaded: by the time and size that the file system keeps, since this is asked
// before every run. The folder where plugins are found counts too: a file that came or went changes it.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileStamp } from '../../contracts/index.ts'

/** The stamps of plugin files and of the project's plugin folder, as they are now. */
export function stampPlugins(projectDir: string, files: readonly string[]): Promise<FileStamp[]> {
  return Promise.all([join(projectDir, 'src', 'plugins'), ...files].map(stampOf))
}

/** Whether every file still has its stamp. */
export async function areUnchanged(stamps: readonly FileStamp[]): Promise<boolean> {
  const now = await Promise.all(stamps.map(({ file }) => stampOf(file)))
  return stamps.every(({ stamp }, i) => now[i]?.stamp === stamp)
}

async function stampOf(file: string): Promise<FileStamp> {
  try {
    const { mtimeNs, size, ino } = await stat(file, { bigint: true })
    return { file, stamp: `${mtimeNs}.${size}.${ino}` }
  } catch {
    return { file, stamp: 'absent' }
  }
}
