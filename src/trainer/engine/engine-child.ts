// The thread or process of an engine. Nothing else runs here, so an engine may compute for minutes without a breath.
import type { Engine } from '../../contracts/index.ts'
import { EvsysError, messageOf, serve, toRecord } from '../../kernel/index.ts'
import { type EngineContext, engineProtocol } from './engine-module.ts'

process.on('SIGINT', () => {}) // meant for the parent, which may still want to save
// A warm spare loads the module that it will be asked to open; if that fails, it fails again when it is asked.
const [, , expected] = process.argv
if (expected !== undefined) import(expected).catch(() => {})

type OpenEngine = (options: unknown, context: EngineContext) => Engine | Promise<Engine>

let engine: Engine | undefined

await serve(
  engineProtocol,
  (parent) => ({
    async open({ url, options }) {
      const { openEngine }: { openEngine: OpenEngine } = await import(url)
      engine = await openEngine(options, { notice: (text) => parent.notify('notice', text) })
      return engine.id
    },
    async run(op, signal) {
      if (engine === undefined) throw new EvsysError('BACKEND_FAILED', 'the engine is not open')
      return await engine.run(op, signal)
    },
    async close() {
      await engine?.[Symbol.asyncDispose]()
      return null
    },
  }),
  {
    problemsOf: (error) =>
      EvsysError.is(error) ? [toRecord(error)] : [{ code: 'BACKEND_FAILED', message: messageOf(error) }],
  },
)
