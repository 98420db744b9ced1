// A trainer process for one run. Its weights are kept where the project's other trainers keep theirs, so that a later run can
// start from them; it ends with whoever started it, also when that one is killed.
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { basename, dirname, extname, join } from 'node:path'
import { ErrorCode } from '../../contracts/index.ts'
import { EvsysError, onAbort, sourceLoader } from '../../kernel/index.ts'
import { type EarlyTrainer, forkTrainer } from './early-trainer.ts'
import { TrainerNotice, TrainerReady, type TrainerStart } from './trainer-messages.ts'

export type TrainerProcessOptions = {
  engine: TrainerStart['engine']
  models: readonly string[]
  runDir: string
  signal: AbortSignal
  /** Hears what is worth telling before the trainer is ready. */
  onNotice: (text: string) => void
  /** One that has started already, for the same engine and model. */
  early?: EarlyTrainer
}

export interface TrainerProcess extends AsyncDisposable {
  readonly url: string
  readonly key: string
}

/** Starts a trainer and waits until it listens. */
export async function startTrainerProcess(options: TrainerProcessOptions): Promise<TrainerProcess> {
  const { engine, models, runDir, signal, onNotice, early } = options
  const loader = extname(import.meta.url) === '.ts' ? ['--import', sourceLoader()] : []
  const child = early?.child ?? forkTrainer([engine], loader)
  let complaints = ''
  child.stderr?.on('data', (text: Buffer) => {
    complaints = `${complaints}${text}`.slice(-2000)
  })
  const stopListening = onAbort(signal, () => child.kill('SIGKILL'))
  const key = `tml-${randomBytes(24).toString('hex')}`
  const end = async () => {
    stopListening()
    await ended(child)
  }
  try {
    const start = { engine, models: [...models], project: process.cwd(), dir: trainerDir(runDir), key }
    const listening = readiness(child, { complaints: () => complaints, onNotice, said: early?.said ?? [] })
    if (child.connected) child.send(start satisfies TrainerStart)
    const ready = await listening
    if ('url' in ready) return { url: ready.url, key, [Symbol.asyncDispose]: end }
    const code = ErrorCode.safeParse(ready.error.code)
    const { message, fix } = ready.error
    throw new EvsysError(code.success ? code.data : 'BACKEND_FAILED', message, fix === undefined ? {} : { fix })
  } catch (error) {
    await end()
    throw signal.aborted ? signal.reason : error
  }
}

/** The folder of the project's trainers; that of the run where there is no project. */
function trainerDir(runDir: string): string {
  for (let folder = runDir; folder !== dirname(folder); folder = dirname(folder)) {
    if (basename(folder) === '.evsys') return join(folder, 'trainer')
  }
  return join(runDir, 'trainer')
}

type Listening = { complaints: () => string; onNotice: (text: string) => void; said: readonly unknown[] }

function readiness(child: ChildProcess, { complaints, onNotice, said }: Listening): Promise<TrainerReady> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      const last = complaints().trim()
      reject(
        new EvsysError('BACKEND_FAILED', `the trainer process ${why}${last === '' ? '' : `: ${last}`}`, {
          retryable: true,
        }),
      )
    }
    child.once('error', (error) => fail(`did not start (${error.message})`))
    child.once('exit', (code, signal) => fail(`ended early (${signal ?? code})`))
    const take = (message: unknown) => {
      const told = TrainerNotice.safeParse(message)
      if (told.success) onNotice(told.data.notice)
      else resolve(TrainerReady.parse(message))
    }
    for (const message of said) take(message)
    child.on('message', take)
  })
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once('exit', () => resolve())
    if (child.connected) child.disconnect()
    else child.kill()
  })
}
