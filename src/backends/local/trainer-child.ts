// A trainer process: opens what it is told, says where it listens, and ends when whoever started it is gone.
import { engineModule, serveTrainer, startEngineEarly } from '../../trainer/index.ts'
import type { TrainerNotice, TrainerReady } from './trainer-messages.ts'

process.once('disconnect', () => process.exit(0))
process.once('message', (message) => void main(message))
// The kind of engine is told at once: its process loads its code while this one does.
if (process.argv[2] === 'cpu') startEngineEarly(engineModule({ kind: 'cpu', folders: {}, cacheFolder: '' }).url)
const loaded = Promise.all([
  import('../../kernel/index.ts'),
  import('./open-local-trainer.ts'),
  import('./trainer-messages.ts'),
])

async function main(message: unknown): Promise<void> {
  const [{ EvsysError, messageOf, toRecord }, { openLocalTrainer }, { TrainerStart }] = await loaded
  try {
    const { key, ...options } = TrainerStart.parse(message)
    const trainer = await openLocalTrainer({ ...options, keys: [key], onNotice: (notice) => say({ notice }) })
    const { url } = await serveTrainer(trainer, { port: 0 })
    say({ url })
  } catch (error) {
    const record = EvsysError.is(error) ? toRecord(error) : { code: 'BACKEND_FAILED', message: messageOf(error) }
    say({ error: record })
  }
}

function say(message: TrainerReady | TrainerNotice): void {
  process.send?.(message)
}
