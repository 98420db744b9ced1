// A file that arrives on standard input.
import { EvsysError } from '../../kernel/index.ts'
import type { CommandContext } from './command-context.ts'

/** Far more than anybody writes by hand; a stream without end is not kept in memory. */
const largestMb = 16

/** Reads standard input to its end, as UTF-8 text. */
export async function readStdin({ stdin, signal, holding }: CommandContext): Promise<string> {
  return await holding('standard input', async () => {
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of untilAborted(stdin, signal)) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      size += bytes.length
      if (size > largestMb * 1024 * 1024) throw unreadable(`is longer than ${largestMb} MB`)
      chunks.push(bytes)
    }
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
    } catch {
      throw unreadable('is not UTF-8 text')
    }
  })
}

// A terminal or an idle pipe may never send anything more.
async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const items = source[Symbol.asyncIterator]()
  const { promise: aborted, reject } = withReject()
  const stop = () => reject(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  try {
    signal.throwIfAborted()
    for (;;) {
      const next = await Promise.race([items.next(), aborted])
      if (next.done === true) return
      yield next.value
    }
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function withReject(): { promise: Promise<never>; reject: (reason: unknown) => void } {
  let reject: (reason: unknown) => void = () => {}
  const promise = new Promise<never>((_resolve, refuse) => {
    reject = refuse
  })
  promise.catch(() => {}) // no one may be waiting when it is aborted
  return { promise, reject }
}

function unreadable(why: string): EvsysError {
  return new EvsysError('CONFIG_READ', `standard input ${why}`, {
    fix: 'pipe the text of an experiment or task file into it.',
  })
}
