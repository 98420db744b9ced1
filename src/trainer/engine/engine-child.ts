// The process of an engine. It ends with whoever started it.
import type { EngineModule, FromEngine, ToEngine } from './engine-messages.ts'
import { messagePipe } from './message-pipe.ts'
import { serveEngine } from './serve-engine.ts'

process.on('SIGINT', () => {}) // meant for whoever started it, who may still want to save
process.once('disconnect', () => process.exit(0))
if (!process.connected) process.exit(0) // gone before anybody listened
// One that was started early loads what it will be told to open; if that fails, it fails again when it is told.
const [, , expected] = process.argv
if (expected !== undefined) import(expected).catch(() => {})
process.once('message', (start) => {
  const { module, folder } = start as { module: EngineModule; folder: string } // of start-engine-process.ts
  const waiting: ToEngine[] = []
  let take = (message: ToEngine): void => void waiting.push(message)
  const pipe = messagePipe<FromEngine, ToEngine>(process, folder, (message) => take(message))
  void serveEngine(module, {
    say: pipe.send,
    listen(taker) {
      take = taker
      for (const message of waiting.splice(0)) take(message)
    },
    leave: () => void pipe.sent().then(() => process.disconnect()),
  })
})
