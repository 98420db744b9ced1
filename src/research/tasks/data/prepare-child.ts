// The process that makes the splits of a task: it runs the task's own `prepare` module, which the controller never loads.
import { pathToFileURL } from 'node:url'
import { messageOf, openParentLink } from '../../../kernel/index.ts'

export interface PrepareStart {
  readonly module: string
  readonly source?: string
  readonly out: string
}

const link = await openParentLink()
const { module, ...given } = Object(link.start) as PrepareStart // written by prepare-splits.ts
try {
  const loaded: { default?: unknown } = await import(pathToFileURL(module).href)
  if (typeof loaded.default !== 'function') throw new TypeError('it has no function as its default export')
  await loaded.default(given)
  link.say({ done: true })
} catch (error) {
  link.say({ failed: messageOf(error) })
}
link.leave()
