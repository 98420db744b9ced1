// Threads that render conversations, each asked for one range at a time.
import { extname } from 'node:path'
import type { ChatMessage, Rendered } from '../../contracts/index.ts'
import { type Child, EvsysError, messageOf, openChild, ownThread } from '../../kernel/index.ts'
import { type RenderStart, renderProtocol } from './render-protocol.ts'

/** Starts threads; disposing of the pool ends them. */
export function createRenderPool(start: RenderStart, size: number) {
  const threads = Array.from({ length: size }, () => new RenderThread(start))
  const idle = [...threads]
  const waiting: ((thread: RenderThread) => void)[] = []
  const take = () => {
    const thread = idle.pop()
    return thread === undefined ? new Promise<RenderThread>((resolve) => waiting.push(resolve)) : thread
  }
  const give = (thread: RenderThread) => {
    const next = waiting.shift()
    if (next === undefined) idle.push(thread)
    else next(thread)
  }
  return {
    async render(conversations: readonly (readonly ChatMessage[])[]): Promise<readonly Rendered[]> {
      const thread = await take()
      try {
        return await thread.render(conversations)
      } finally {
        give(thread)
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(threads.map((thread) => thread.end()))
    },
  }
}

class RenderThread {
  readonly #child: Child<typeof renderProtocol>

  constructor(start: RenderStart) {
    this.#child = openChild({
      protocol: renderProtocol,
      start: ownThread(new URL(`./render-thread${extname(import.meta.url)}`, import.meta.url)),
      handlers: {},
      deathOf: ({ printed }) =>
        new EvsysError(
          'WORKER_DIED',
          `a thread that renders conversations failed: ${printed === '' ? 'it ended' : printed}`,
        ),
    })
    this.#child.call('open', start).catch(() => {}) // fails what is rendered
  }

  async render(conversations: readonly (readonly ChatMessage[])[]): Promise<readonly Rendered[]> {
    try {
      return await this.#child.call(
        'render',
        conversations.map((messages) => [...messages]),
      )
    } catch (error) {
      if (this.#child.end !== undefined) throw error
      throw new EvsysError('DATA_INVALID', `a conversation cannot be rendered: ${messageOf(error)}`)
    }
  }

  async end(): Promise<void> {
    await this.#child.close()
  }
}
