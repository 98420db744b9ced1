// Any engine, in a separate thread or process: what answers requests never computes. One that dies takes its weights with it;
// pending operations fail with an error that says so, and the next request starts a new one.
import type { Engine, EngineId, EngineOp, EngineResult } from '../../contracts/index.ts'
import { EvsysError, forkedProcess, messageOf, openChild, ownThread, type ProcessEnd } from '../../kernel/index.ts'
import { type EngineModule, engineFork, engineProtocol, engineScript } from './engine-module.ts'

export type EngineHost = Engine & {
  /** Called each time that an engine has died with all models in it. */
  onLost(listener: (error: EvsysError) => void): void
}

export type EngineHostOptions = {
  /** Receives notices while the engine is opened, such as that its kernels are compiled. */
  onNotice?: ((text: string) => void) | undefined
}

/** Starts an engine and waits until it can be used. */
export async function openEngineHost(
  module: EngineModule,
  { onNotice = () => {} }: EngineHostOptions = {},
): Promise<EngineHost> {
  const listeners: ((error: EvsysError) => void)[] = []
  const lost = (error: EvsysError) => {
    running = undefined
    for (const listener of listeners) listener(error)
  }
  let running: Running | undefined = start(module, lost, onNotice)
  const id = await running.ready
  return {
    id,
    async run(op, signal) {
      signal.throwIfAborted()
      running ??= start(module, lost, onNotice)
      return running.run(op, signal)
    },
    onLost: (listener) => void listeners.push(listener),
    [Symbol.asyncDispose]: async () => running?.close(),
  }
}

type Running = {
  ready: Promise<EngineId>
  run(op: EngineOp, signal: AbortSignal): Promise<EngineResult>
  close(): Promise<void>
}

/** An engine that still computes then is ended: its result has no reader any more. */
const closeMs = 5000

function start(module: EngineModule, onLost: (error: EvsysError) => void, onNotice: (text: string) => void): Running {
  let isClosing = false
  let lost: EvsysError | undefined
  const child = openChild({
    protocol: engineProtocol,
    start:
      module.home === 'thread'
        ? ownThread(engineScript())
        : forkedProcess({ ...engineFork(module.url), bytesInFiles: true }),
    handlers: { notice: onNotice },
    deathOf(end) {
      lost ??= lostError(module.home === 'thread' ? end.printed : reasonOf(end))
      return lost
    },
  })
  const ready = child.call('open', module).catch(async (error: unknown) => {
    lost ??= EvsysError.is(error) ? error : lostError(messageOf(error))
    await child.close()
    throw error
  })
  ready.catch(() => {}) // rejects what is run, too
  const gone = child.ended.then(() => {
    if (!isClosing && lost !== undefined) onLost(lost)
  })
  return {
    ready,
    async run(op, signal) {
      await ready
      return child.call('run', op, { signal, onAbort: 'wait' })
    },
    async close() {
      if (isClosing) return gone
      isClosing = true
      await child.call('close', null, { timeoutMs: closeMs }).catch(() => {}) // it is ended, whatever it says
      await child.close()
      await gone
    },
  }
}

function reasonOf({ code, signal, printed, stopped }: ProcessEnd): string {
  const last = printed.slice(-1000).trim()
  if (stopped === 'not started') return `it did not start (${last})`
  if (signal === 'SIGKILL') return 'it was killed, as the system does where memory runs out'
  return code === 0 ? '' : `${signal ?? `exit code ${code}`}${last === '' ? '' : `: ${last}`}`
}

function lostError(why: string): EvsysError {
  const message = `the engine has ended${why === '' ? '' : `: ${why}`}; models in training are lost`
  return new EvsysError('BACKEND_FAILED', message, {
    retryable: true,
    fix: 'make the model again from its last checkpoint.',
  })
}
