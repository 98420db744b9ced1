// Any engine, in a thread of its own: whoever answers requests never computes. A thread that dies takes its weights with it;
// what it was asked fails with an error that says so, and the next request starts a new one.
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Engine, EngineId, EngineOp, EngineResult } from '../../contracts/index.ts'
import { EvsysError, messageOf, onAbort, sourceLoader } from '../../kernel/index.ts'
import type { EngineModule, FromThread, ToThread } from './thread-messages.ts'

export type EngineThread = Engine & {
  /** Called each time that a thread has died with all models in it. */
  onLost(listener: (error: EvsysError) => void): void
}

export type EngineThreadOptions = {
  /** Hears what the engine has to say while it is opened, such as that its kernels are compiled. */
  onNotice?: (text: string) => void
}

/** Starts an engine in a thread and waits until it can be used. */
export async function openEngineThread(
  module: EngineModule,
  { onNotice = () => {} }: EngineThreadOptions = {},
): Promise<EngineThread> {
  const listeners: ((error: EvsysError) => void)[] = []
  const lost = (error: EvsysError) => {
    thread = undefined
    for (const listener of listeners) listener(error)
  }
  let thread: Thread | undefined = startThread(module, lost, onNotice)
  const id = await thread.ready
  return {
    id,
    async run(op, signal) {
      signal.throwIfAborted()
      thread ??= startThread(module, lost, onNotice)
      return thread.run(op, signal)
    },
    onLost: (listener) => void listeners.push(listener),
    [Symbol.asyncDispose]: async () => thread?.close(),
  }
}

type Thread = {
  ready: Promise<EngineId>
  run(op: EngineOp, signal: AbortSignal): Promise<EngineResult>
  close(): Promise<void>
}

/** An engine that still computes then is ended: nobody waits for its result any more. */
const closeMs = 5000

type Waiting = { resolve: (result: EngineResult) => void; reject: (error: unknown) => void }

function startThread(
  module: EngineModule,
  onLost: (error: EvsysError) => void,
  onNotice: (text: string) => void,
): Thread {
  const script = new URL(`./engine-worker${extname(import.meta.url)}`, import.meta.url)
  const isSource = script.pathname.endsWith('.ts')
  const worker = new Worker(script, { workerData: module, execArgv: isSource ? ['--import', sourceLoader()] : [] })
  const waiting = new Map<number, Waiting>()
  let lastId = 0
  let isClosing = false
  let cause: unknown
  const send = (message: ToThread) => worker.postMessage(message)

  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const ready = new Promise<EngineId>((resolve, reject) => {
    worker.on('message', (message: FromThread) => {
      if (message.type === 'ready') resolve(message.engineId)
      else if (message.type === 'notice') onNotice(message.text)
      else if (message.type === 'result') waiting.get(message.id)?.resolve(message.result)
      else if (message.type === 'failed') {
        const { code, message: text, fix } = message.error
        waiting.get(message.id)?.reject(new EvsysError(code, text, fix === undefined ? {} : { fix }))
      }
    })
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', () => {
      const error = new EvsysError(
        'BACKEND_FAILED',
        `the engine has ended${cause === undefined ? '' : `: ${messageOf(cause)}`}; models in training are lost`,
        { cause, retryable: true, fix: 'make the model again from its last checkpoint.' },
      )
      reject(error)
      for (const each of waiting.values()) each.reject(error)
      waiting.clear()
      if (!isClosing) onLost(error)
    })
  })
  ready.catch(() => {}) // told to whoever runs something

  return {
    ready,
    async run(op, signal) {
      const id = ++lastId
      const result = new Promise<EngineResult>((resolve, reject) => waiting.set(id, { resolve, reject }))
      send({ type: 'run', id, op })
      const stopListening = onAbort(signal, () => send({ type: 'abort', id }))
      try {
        return await result
      } finally {
        stopListening()
        waiting.delete(id)
      }
    },
    async close() {
      if (isClosing) return ended
      isClosing = true
      send({ type: 'close' })
      const impatient = setTimeout(() => void worker.terminate(), closeMs)
      await ended
      clearTimeout(impatient)
    },
  }
}
