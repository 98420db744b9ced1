// A trainer process: opens what it is asked to, says where it listens, and ends when its parent is gone.
import { EvsysError, messageOf, serve, toRecord } from '../../kernel/index.ts'
import { serveTrainer } from '../../trainer/index.ts'
import { openLocalEngine, openLocalTrainer } from './open-local-trainer.ts'
import { trainerProtocol } from './trainer-messages.ts'

const [, , kind, model] = process.argv

await serve(
  trainerProtocol,
  (parent) => {
    const onNotice = (text: string) => parent.notify('notice', text)
    // Where the model is known as well, the engine is opened before the rest is.
    const opening =
      kind === 'cpu' && model !== undefined
        ? openLocalEngine({ engine: 'cpu', models: [model], project: process.cwd(), onNotice })
        : undefined
    opening?.catch(() => {}) // fails what is opened with it
    return {
      async open({ key, socket, ...options }) {
        const trainer = await openLocalTrainer({ ...options, keys: [key], onNotice }, opening)
        const { url } = await serveTrainer(trainer, { port: 0, socketPath: socket })
        return { url }
      },
    }
  },
  {
    problemsOf: (error) =>
      EvsysError.is(error) ? [toRecord(error)] : [{ code: 'BACKEND_FAILED', message: messageOf(error) }],
  },
)
