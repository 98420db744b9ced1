// A trainer process: opens what it is told, says where it listens, and ends when whoever started it is gone.
import { engineModule, serveTrainer, startEngineEarly } from '../../trainer/index.ts'
import type { LocalEngine } from './open-local-trainer.ts'
import type { TrainerNotice, TrainerReady } from './trainer-messages.ts'

process.once('disconnect', () => process.exit(0))
if (!process.connected) process.exit(0) // gone before anybody listened
process.once('message', (message) => void main(message))
// The kind of engine is told at once: its process loads its code while this one does. Where the model is told as well, the engine is
// opened before the rest is known.
const [, , kind, model] = process.argv
if (kind === 'cpu') startEngineEarly(engineModule({ kind: 'cpu', folders: {}, cacheFolder: '' }).url)
const loaded = Promise.all([
  import('../../kernel/index.ts'),
  import('./open-local-trainer.ts'),
  import('./trainer-messages.ts'),
])
const opening = kind === 'cpu' && model !== undefined ? openEarly(model) : undefined
opening?.catch(() => {}) // told when the rest is known

async function openEarly(name: string): Promise<LocalEngine> {
  const [, { openLocalEngine }] = await loaded
  return openLocalEngine({ engine: 'cpu', models: [name], project: process.cwd(), onNotice })
}

async function main(message: unknown): Promise<void> {
  const [{ EvsysError, messageOf, toRecord }, { openLocalTrainer }, { TrainerStart }] = await loaded
  try {
    const { key, ...options } = TrainerStart.parse(message)
    const trainer = await openLocalTrainer({ ...options, keys: [key], onNotice }, opening)
    const { url } = await serveTrainer(trainer, { port: 0 })
    say({ url })
  } catch (error) {
    const record = EvsysError.is(error) ? toRecord(error) : { code: 'BACKEND_FAILED', message: messageOf(error) }
    say({ error: record })
  }
}

function onNotice(notice: string): void {
  say({ notice })
}

function say(message: TrainerReady | TrainerNotice): void {
  process.send?.(message)
}
