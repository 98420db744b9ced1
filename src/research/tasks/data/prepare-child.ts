// The process that makes the splits of a task: it runs the task's own `prepare` module, which the controller never loads.
import { pathToFileURL } from 'node:url'
import { serve } from '../../../kernel/index.ts'
import { prepareProtocol } from './prepare-protocol.ts'

await serve(prepareProtocol, () => ({
  async prepare({ module, ...given }) {
    const loaded: { default?: unknown } = await import(pathToFileURL(module).href)
    if (typeof loaded.default !== 'function') throw new TypeError('it has no function as its default export')
    await loaded.default(given)
    return null
  },
}))
