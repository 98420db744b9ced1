// The inside of an engine's thread or process: opens the engine that it was told of and carries out what it is sent. Nothing else
// runs here, so an engine may compute for minutes without a breath.
import type { Engine, ErrorRecord } from '../../contracts/index.ts'
import { EvsysError, messageOf, toRecord } from '../../kernel/index.ts'
import type { EngineContext, EngineModule, FromEngine, ToEngine } from './engine-messages.ts'

export type EngineOutside = {
  say(message: FromEngine): void
  listen(take: (message: ToEngine) => void): void
  /** Called when nothing will be said any more. */
  leave(): void
}

/** Serves an engine until it is told to close. */
export async function serveEngine(module: EngineModule, { say, listen, leave }: EngineOutside): Promise<void> {
  const running = new Map<number, AbortController>()
  const open = async (): Promise<Engine | undefined> => {
    try {
      const { openEngine }: { openEngine: (options: unknown, context: EngineContext) => Engine | Promise<Engine> } =
        await import(module.url)
      return await openEngine(module.options, { notice: (text) => say({ type: 'notice', text }) })
    } catch (error) {
      say({ type: 'unopened', error: recordOf(error) })
      return undefined
    }
  }
  const engine = await open()
  if (engine === undefined) return leave()

  const carryOut = async ({ id, op }: Extract<ToEngine, { type: 'run' }>): Promise<void> => {
    const controller = new AbortController()
    running.set(id, controller)
    try {
      say({ type: 'result', id, result: await engine.run(op, controller.signal) })
    } catch (error) {
      say({ type: 'failed', id, error: recordOf(error) })
    } finally {
      running.delete(id)
    }
  }
  const close = async (): Promise<void> => {
    await engine[Symbol.asyncDispose]()
    say({ type: 'closed' })
    leave()
  }
  listen((message) => {
    if (message.type === 'abort') running.get(message.id)?.abort()
    else if (message.type === 'run') void carryOut(message)
    else void close()
  })
  say({ type: 'ready', engineId: engine.id })
}

function recordOf(error: unknown): ErrorRecord {
  return EvsysError.is(error) ? toRecord(error) : { code: 'BACKEND_FAILED', message: messageOf(error) }
}
