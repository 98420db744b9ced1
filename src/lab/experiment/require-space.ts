// A full disk fails whatever is written next, in any run: it says nothing of the recipe, and the runs that met it are done again
// once there is space. So the experiment stops there instead of recording failures.
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ErrorRecord } from '../../contracts/index.ts'
import { EvsysError, fileError, isDiskFull, systemCode, tellsOfFullDisk } from '../../kernel/index.ts'

/** What a failed run is granted; less than this is a full disk, whatever the run failed with. */
const PROBE_BYTES = 256 * 1024

/** Throws when a run failed, with `error`, because its disk is full. */
export async function requireSpace(dir: string, error: ErrorRecord | undefined): Promise<void> {
  if (error !== undefined && tellsOfFullDisk(error)) {
    throw new EvsysError(error.code, error.message, {
      fix: 'free some space (`df` shows how much), then go on with --resume.',
    })
  }
  const file = join(dir, `space-${process.pid}`)
  try {
    await writeFile(file, Buffer.alloc(PROBE_BYTES))
  } catch (cause) {
    if (isDiskFull(systemCode(cause))) throw fileError('write', file, cause)
  } finally {
    await rm(file, { force: true }).catch(() => {}) // a folder that is not there has no file either
  }
}
