// Saved weights of mock models: one file each in the run's folder, and one `mock://` address for each file.
import { mkdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { CheckpointKind, Ref } from '../../contracts/index.ts'
import { EvsysError, fileError, systemCode, writeFileAtomic } from '../../kernel/index.ts'

const nameForm = /^[A-Za-z0-9][\w.-]{0,199}$/

/** Writes a checkpoint: the file is there as a whole or not at all. Returns its address. */
export async function writeCheckpoint(
  runDir: string,
  kind: CheckpointKind,
  name: string,
  bytes: Uint8Array,
): Promise<string> {
  if (!nameForm.test(name)) {
    throw refused(`"${name}" cannot name a checkpoint`, 'use letters, digits, dots, _ and -, at most 200 of them.')
  }
  const path = join(runDir, 'checkpoints', kind, `${name}.mock`)
  try {
    await mkdir(dirname(path), { recursive: true })
  } catch (cause) {
    throw fileError('make', dirname(path), cause)
  }
  await writeFileAtomic(path, bytes)
  return `mock:${pathToFileURL(path).href.slice('file:'.length)}`
}

/** The bytes at an address. What they hold is checked by the engine. */
export async function readCheckpoint({ uri }: Pick<Ref, 'uri'>): Promise<Uint8Array> {
  const path = pathOf(uri)
  try {
    return await readFile(path)
  } catch (cause) {
    if (systemCode(cause) !== 'ENOENT') throw fileError('read', path, cause)
    throw refused(
      `there is no checkpoint at ${uri}`,
      'check the address; the run’s folder may have been moved or deleted.',
    )
  }
}

/** Deletes a checkpoint; one that is gone already is no error. */
export async function removeCheckpoint({ uri }: Pick<Ref, 'uri'>): Promise<void> {
  const path = pathOf(uri)
  try {
    await rm(path, { force: true })
  } catch (cause) {
    throw fileError('delete', path, cause)
  }
}

function pathOf(uri: string): string {
  try {
    if (uri.startsWith('mock:///')) return fileURLToPath(`file:${uri.slice('mock:'.length)}`)
  } catch {
    // Not a path of this platform: told below.
  }
  throw refused(
    `${uri} is no address of a mock checkpoint`,
    'use one that a run on the mock backend printed: mock:///...',
  )
}

function refused(message: string, fix: string): EvsysError {
  return new EvsysError('BACKEND_FAILED', `mock backend: ${message}`, { fix })
}
