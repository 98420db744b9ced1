// Threads that render conversations, each asked for one range at a time.
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { ChatMessage, Rendered } from '../../contracts/index.ts'
import { EvsysError, sourceLoader } from '../../kernel/index.ts'
import type { Answered, Asked, RenderStart } from './render-thread.ts'

export interface RenderPool extends AsyncDisposable {
  render(conversations: readonly (readonly ChatMessage[])[]): Promise<readonly Rendered[]>
}

/** Starts threads; disposing of the pool ends them. */
export function createRenderPool(start: RenderStart, size: number): RenderPool {
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
    async render(conversations) {
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
  readonly #worker: Worker
  #requests = 0
  #pending: { request: number; resolve(rendered: Rendered[]): void; reject(error: EvsysError): void } | undefined

  constructor(start: RenderStart) {
    const extension = extname(import.meta.url)
    this.#worker = new Worker(new URL(`./render-thread${extension}`, import.meta.url), {
      workerData: start,
      execArgv: extension === '.ts' ? ['--import', sourceLoader()] : [],
    })
    this.#worker.on('message', (answer: Answered) => this.#take(answer)) // our own thread: it runs no foreign code
    this.#worker.on('error', (error) => this.#fail(error.message))
    this.#worker.on('exit', () => this.#fail('it ended'))
  }

  render(conversations: readonly (readonly ChatMessage[])[]): Promise<readonly Rendered[]> {
    return new Promise((resolve, reject) => {
      const request = ++this.#requests
      this.#pending = { request, resolve, reject }
      const asked: Asked = { request, conversations: conversations.map((messages) => [...messages]) }
      this.#worker.postMessage(asked)
    })
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }

  #take(answer: Answered): void {
    const pending = this.#pending
    if (pending === undefined || pending.request !== answer.request) return
    this.#pending = undefined
    if ('rendered' in answer) pending.resolve(answer.rendered)
    else pending.reject(new EvsysError('DATA_INVALID', `a conversation cannot be rendered: ${answer.error}`))
  }

  #fail(why: string): void {
    this.#pending?.reject(new EvsysError('WORKER_DIED', `a thread that renders conversations failed: ${why}`))
    this.#pending = undefined
  }
}
