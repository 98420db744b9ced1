// The inside of an engine's thread: opens the engine that it was told of and carries out what it is sent. Nothing else runs
// here, so an engine may compute for minutes without a breath.
import { parentPort, workerData } from 'node:worker_threads'
import type { Engine, EngineResult } from '../../contracts/index.ts'
import { EvsysError, messageOf, toRecord } from '../../kernel/index.ts'
import type { EngineModule, FromThread, ThreadContext, ToThread } from './thread-messages.ts'

const { url, options }: EngineModule = workerData
const module: { openEngine: (options: unknown, context: ThreadContext) => Engine | Promise<Engine> } = await import(url)
const engine = await module.openEngine(options, { notice: (text) => say({ type: 'notice', text }) })
const running = new Map<number, AbortController>()

function say(message: FromThread, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer)
}

parentPort?.on('message', (message: ToThread) => {
  if (message.type === 'abort') running.get(message.id)?.abort()
  else if (message.type === 'run') void carryOut(message)
  else void close()
})

async function carryOut({ id, op }: Extract<ToThread, { type: 'run' }>): Promise<void> {
  const controller = new AbortController()
  running.set(id, controller)
  try {
    const result = await engine.run(op, controller.signal)
    say({ type: 'result', id, result }, transferable(result))
  } catch (error) {
    const known = EvsysError.is(error) ? toRecord(error) : undefined
    say({ type: 'failed', id, error: known ?? { code: 'BACKEND_FAILED', message: messageOf(error) } })
  } finally {
    running.delete(id)
  }
}

// Weights are the one thing too large to copy; they are handed over where the array owns its memory.
function transferable(result: EngineResult): ArrayBuffer[] {
  if (!('bytes' in result)) return []
  const { buffer, byteLength } = result.bytes
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : []
}

async function close(): Promise<void> {
  await engine[Symbol.asyncDispose]()
  say({ type: 'closed' })
  parentPort?.close()
}

say({ type: 'ready', engineId: engine.id })
