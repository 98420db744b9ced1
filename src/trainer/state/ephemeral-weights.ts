// Weights that live as long as their session: a run may make thousands of them, so they are kept on disk and not in memory.
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileError, systemCode } from '../../kernel/index.ts'

export class EphemeralWeights {
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  /** Every process has a folder of its own; those of processes that were killed are removed. */
  static async open(parent: string): Promise<EphemeralWeights> {
    const folder = join(parent, String(process.pid))
    try {
      await mkdir(folder, { recursive: true })
      for (const name of await readdir(parent)) {
        if (!isRunning(Number(name))) await rm(join(parent, name), { recursive: true, force: true })
      }
    } catch (cause) {
      throw fileError('make', folder, cause)
    }
    return new EphemeralWeights(await mkdtemp(join(folder, 'live-')))
  }

  /** Keeps weights; returns how they are read again, and removed. */
  async add(sessionId: string, bytes: Uint8Array): Promise<{ read(): Promise<Uint8Array>; remove(): Promise<void> }> {
    const folder = join(this.#folder, sessionId)
    const file = join(folder, randomUUID())
    try {
      await mkdir(folder, { recursive: true })
      await writeFile(file, bytes)
    } catch (cause) {
      throw fileError('write', file, cause)
    }
    return {
      read: () => readFile(file).catch((cause) => Promise.reject(fileError('read', file, cause))),
      remove: () => rm(file, { force: true }),
    }
  }

  async removeSession(sessionId: string): Promise<void> {
    await rm(join(this.#folder, sessionId), { recursive: true, force: true })
  }

  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return systemCode(cause) === 'EPERM'
  }
}
