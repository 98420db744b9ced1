// Any engine, in a thread or process of its own: whoever answers requests never computes. One that dies takes its weights with it;
// what it was asked fails with an error that says so, and the next request starts a new one.
import type { Engine, EngineId, EngineOp, EngineResult, ErrorRecord } from '../../contracts/index.ts'
import { EvsysError, onAbort } from '../../kernel/index.ts'
import type { EngineModule, FromEngine } from './engine-messages.ts'
import { startEngineProcess } from './start-engine-process.ts'
import { startEngineThread } from './start-engine-thread.ts'

export type EngineHost = Engine & {
  /** Called each time that an engine has died with all models in it. */
  onLost(listener: (error: EvsysError) => void): void
}

export type EngineHostOptions = {
  /** Hears what the engine has to say while it is opened, such as that its kernels are compiled. */
  onNotice?: (text: string) => void
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

/** An engine that still computes then is ended: nobody waits for its result any more. */
const closeMs = 5000

type Waiting = { resolve: (result: EngineResult) => void; reject: (error: unknown) => void }

function start(module: EngineModule, onLost: (error: EvsysError) => void, onNotice: (text: string) => void): Running {
  const waiting = new Map<number, Waiting>()
  let lastId = 0
  let isClosing = false
  let unopened: EvsysError | undefined
  let opened: { resolve: (id: EngineId) => void; reject: (error: unknown) => void } | undefined
  const ready = new Promise<EngineId>((resolve, reject) => {
    opened = { resolve, reject }
  })
  ready.catch(() => {}) // told to whoever runs something
  const take = (message: FromEngine) => {
    if (message.type === 'ready') opened?.resolve(message.engineId)
    else if (message.type === 'notice') onNotice(message.text)
    else if (message.type === 'unopened') unopened = errorOf(message.error)
    else if (message.type === 'result') waiting.get(message.id)?.resolve(message.result)
    else if (message.type === 'failed') waiting.get(message.id)?.reject(errorOf(message.error))
  }
  const home = (module.home === 'thread' ? startEngineThread : startEngineProcess)(module, take)
  const gone = home.ended.then((why) => {
    const error = unopened ?? lostError(why)
    opened?.reject(error)
    for (const each of waiting.values()) each.reject(error)
    waiting.clear()
    if (!isClosing) onLost(error)
  })

  return {
    ready,
    async run(op, signal) {
      const id = ++lastId
      const result = new Promise<EngineResult>((resolve, reject) => waiting.set(id, { resolve, reject }))
      home.send({ type: 'run', id, op })
      const stopListening = onAbort(signal, () => home.send({ type: 'abort', id }))
      try {
        return await result
      } finally {
        stopListening()
        waiting.delete(id)
      }
    },
    async close() {
      if (isClosing) return gone
      isClosing = true
      home.send({ type: 'close' })
      const impatient = setTimeout(() => home.kill(), closeMs)
      await gone
      clearTimeout(impatient)
    },
  }
}

function lostError(why: string | undefined): EvsysError {
  const message = `the engine has ended${why === undefined ? '' : `: ${why}`}; models in training are lost`
  return new EvsysError('BACKEND_FAILED', message, {
    retryable: true,
    fix: 'make the model again from its last checkpoint.',
  })
}

function errorOf({ code, message, fix }: ErrorRecord): EvsysError {
  return new EvsysError(code, message, fix === undefined ? {} : { fix })
}
