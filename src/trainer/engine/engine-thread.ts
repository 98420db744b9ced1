// The thread of an engine.
import { parentPort, workerData } from 'node:worker_threads'
import type { FromEngine } from './engine-messages.ts'
import { serveEngine } from './serve-engine.ts'

await serveEngine(workerData, {
  say: (message) => parentPort?.postMessage(message, transferable(message)),
  listen: (take) => parentPort?.on('message', take),
  leave: () => parentPort?.close(),
})

// Weights are the one thing too large to copy; they are handed over where the array owns its memory.
function transferable(message: FromEngine): ArrayBuffer[] {
  if (message.type !== 'result' || !('bytes' in message.result)) return []
  const { buffer, byteLength } = message.result.bytes
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : []
}
