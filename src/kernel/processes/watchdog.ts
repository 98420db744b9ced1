// A thread beside foreign code that notices when it does not return, or takes all memory. The thread that hangs cannot say where; the
// watchdog can, and ends the process. While it lives it says so, whatever the main thread is at: a parent that hears nothing at all
// knows that the process is dead, not busy.
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'

export interface WatchOptions {
  /** Longest time between `begin` and `end`, or the next `begin`. */
  readonly timeoutMs: number
  /** What the process may take in all; absent: what the system lets it. */
  readonly memoryMb?: number | undefined
  /** The author's files: the line to report is in one of them. */
  readonly files?: readonly string[] | undefined
}

export interface WatchdogData extends WatchOptions {
  /** Begins every line to the parent. */
  readonly token: string
  /** Process that must stay alive. */
  readonly parentPid: number
}

export interface Watchdog {
  begin(): void
  end(): void
  /** The author's files, once they are known. */
  know(files: readonly string[]): void
  /** Starts the clock again with every turn of the event loop: it runs out when the loop stands still. */
  keepTime(): void
}

export type WatchdogMessage = 'begin' | 'end' | readonly string[]

export function startWatchdog(data: WatchdogData): Watchdog {
  const url = new URL(`./watchdog-thread${extname(import.meta.url)}`, import.meta.url)
  const thread = new Worker(url, { workerData: data, stdin: false })
  thread.unref()
  const send = (message: WatchdogMessage) => thread.postMessage(message)
  const begin = () => send('begin')
  return {
    begin,
    end: () => send('end'),
    know: (files) => send([...files]),
    keepTime() {
      begin()
      setInterval(begin, Math.min(1000, data.timeoutMs / 4)).unref()
    },
  }
}
