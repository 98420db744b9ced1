// A trainer process for one run. Its weights are kept where the project's other trainers keep theirs, so that a later run can
// start from them; it ends with its parent, also when that one is killed. A warm spare of it loads its code, opens its engine and
// finds the model while the experiment is still checked; it listens nowhere before a run says where its folder is.
import { randomBytes } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { EvsysError, type ForkSpec, forkedProcess, onAbort, openChild, type ProcessEnd } from '../../kernel/index.ts'
import { engineFork, engineModule } from '../../trainer/index.ts'
import { trainerScript } from './load-client.ts'
import { type TrainerStart, trainerProtocol } from './trainer-messages.ts'

export type TrainerProcessOptions = {
  engine: TrainerStart['engine']
  models: readonly string[]
  runDir: string
  /** Listens here instead of on a port. */
  socket?: string | undefined
  /** Where relative folders start from; absent: the folder of this process. */
  project?: string | undefined
  signal: AbortSignal
  /** Takes what is worth logging before the trainer is ready. */
  onNotice: (text: string) => void
}

export interface TrainerProcess extends AsyncDisposable {
  readonly url: string
  /** A socket of this machine that it listens on, in place of the port of its address. */
  readonly socketPath?: string | undefined
  readonly key: string
  /** Aborted with the reason when the process ends by itself. */
  readonly gone: AbortSignal
}

/** Starts a trainer, or uses the spare one, and waits until it listens. */
export async function startTrainerProcess(options: TrainerProcessOptions): Promise<TrainerProcess> {
  const { engine, models, runDir, socket, project = process.cwd(), signal, onNotice } = options
  const trainer = openChild({
    protocol: trainerProtocol,
    start: forkedProcess({ ...trainerFork(engine, models), cwd: project }),
    handlers: { notice: onNotice },
    deathOf,
  })
  const stopListening = onAbort(signal, () => trainer.stop('closed'))
  const end = async () => {
    stopListening()
    await trainer.close()
  }
  const key = `tml-${randomBytes(24).toString('hex')}`
  const start = { engine, models: [...models], project, dir: trainerDir(runDir), key, socket }
  try {
    const { url } = await trainer.call('open', start)
    const gone = new AbortController()
    void trainer.ended.then((how) => how.stopped === 'closed' || gone.abort(deathOf(how)))
    return { url, socketPath: socket, key, gone: gone.signal, [Symbol.asyncDispose]: end }
  } catch (error) {
    await end()
    throw signal.aborted ? signal.reason : error
  }
}

/** What to fork for a trainer. One that knows its only model opens its engine at once. */
export function trainerFork(engine: TrainerStart['engine'], models: readonly string[]): ForkSpec {
  const [model, ...others] = models
  const isKnown = model !== undefined && others.length === 0
  return {
    script: trainerScript(),
    args: isKnown ? [engine, model] : [engine],
    env: variables,
    spares: engine === 'cpu' ? [engineFork(engineModule({ kind: 'cpu', folders: {}, cacheFolder: '' }).url)] : [],
  }
}

/** Paths to programs and caches; no secret of the run. */
const variables = [
  ...['PATH', 'HOME', 'USERPROFILE', 'SystemRoot', 'TMPDIR', 'TEMP', 'XDG_CACHE_HOME', 'LOCALAPPDATA'],
  ...['EVSYS_CACHE', 'EVSYS_ENGINE', 'CC', 'HF_HOME', 'HF_HUB_CACHE'],
]

/** The folder of the project's trainers; that of the run where there is no project. */
function trainerDir(runDir: string): string {
  for (let folder = runDir; folder !== dirname(folder); folder = dirname(folder)) {
    if (basename(folder) === '.evsys') return join(folder, 'trainer')
  }
  return join(runDir, 'trainer')
}

function deathOf({ code, signal, printed, stopped }: ProcessEnd): EvsysError {
  const last = printed.slice(-2000).trim()
  const why = stopped === 'not started' ? `did not start (${last})` : `ended early (${signal ?? code})`
  const detail = last === '' || stopped === 'not started' ? '' : `: ${last}`
  // One that was killed says nothing of the run or the machine's set-up: it is worth another.
  const kind = signal === null ? 'BACKEND_FAILED' : 'WORKER_DIED'
  return new EvsysError(kind, `the trainer process ${why}${detail}`, { retryable: true })
}
