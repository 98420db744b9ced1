// Which process works in the folder of a run. After a crash of the controller its workers leave by themselves, but not in the
// same instant: the next attempt waits until the old one is gone, so that two never save and delete in one folder.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import * as z from 'zod'
import { EvsysError, fileError, isAlive, type ProcessIdentity, systemClock, systemCode } from '../../kernel/index.ts'

// Files of a few bytes, once per run: waiting for a thread would cost more than the calls themselves.
const Holder = z.strictObject({ pid: z.int(), start: z.string() })

/** Longer than a worker takes to notice that its controller is gone. */
const patienceMs = 15_000
const pollMs = 50

/** Waits until the process that worked here before is gone, then makes `holder` the one. Returns what releases the folder. */
export async function holdRunDir(runDir: string, holder: ProcessIdentity, signal: AbortSignal): Promise<() => void> {
  const file = holderFile(runDir)
  await untilFree(file, signal, holder)
  try {
    mkdirSync(runDir, { recursive: true })
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, JSON.stringify(holder))
  } catch (cause) {
    throw fileError('write', file, cause)
  }
  return () => {
    try {
      rmSync(file, { force: true })
    } catch {
      // one that stays names a process that is gone
    }
  }
}

/** Waits until no process works in the folder of a run: what lies there grows no more. */
export async function untilRunDirFree(runDir: string, signal: AbortSignal): Promise<void> {
  await untilFree(holderFile(runDir), signal)
}

/** Beside the folder of the run: what lies in that its code can replace by a link to another file. */
export function holderFile(runDir: string): string {
  return join(dirname(runDir), '.workers', `${basename(runDir)}.json`)
}

async function untilFree(file: string, signal: AbortSignal, own?: ProcessIdentity): Promise<void> {
  const earlier = readHolder(file)
  if (earlier === undefined || (earlier.pid === own?.pid && earlier.start === own.start)) return
  for (let waitedMs = 0; isAlive(earlier); waitedMs += pollMs) {
    if (waitedMs >= patienceMs) {
      throw new EvsysError('WORKER_HUNG', `process ${earlier.pid} still works on an earlier attempt at this run`, {
        fix: `end it (\`kill -9 ${earlier.pid}\`), then resume with --resume.`,
      })
    }
    await systemClock.sleep(pollMs, signal)
  }
}

function readHolder(file: string): ProcessIdentity | undefined {
  try {
    return Holder.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data
  } catch (cause) {
    if (cause instanceof SyntaxError || systemCode(cause) === 'ENOENT') return undefined // torn: none began
    throw fileError('read', file, cause)
  }
}
