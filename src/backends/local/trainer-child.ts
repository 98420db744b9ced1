// A trainer process: opens what it is told, says where it listens, and ends when whoever started it is gone.
import { EvsysError, messageOf, toRecord } from '../../kernel/index.ts'
import { serveTrainer } from '../../trainer/index.ts'
import { openLocalTrainer } from './open-local-trainer.ts'
import { type TrainerNotice, type TrainerReady, TrainerStart } from './trainer-messages.ts'

process.once('disconnect', () => process.exit(0))
process.once('message', (message) => void main(message))

async function main(message: unknown): Promise<void> {
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
