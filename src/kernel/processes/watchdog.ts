// A thread beside foreign code that notices when it does not return. The thread that hangs cannot tell where; the watching one
// can, and ends the process. While it lives it says so, whatever the main thread is at: a controller that hears nothing at all
// knows that the process is dead, not busy.
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'

/** What the thread is started with. */
export type WatchdogData = {
  /** Begins every line to the controller. */
  token: string
  /** Longest time between `begin` and `end`, or the next `begin`. */
  timeoutMs: number
  /** The author's files: the line to report is in one of them. */
  files: readonly string[]
  /** Process that must stay alive. */
  parentPid: number
}

export type Watchdog = {
  /** Starts the clock, or starts it again. */
  begin(): void
  /** Stops the clock. */
  end(): void
  /** The author's files, once they are known. */
  know(files: readonly string[]): void
  /** Starts the clock again with every turn of the event loop: it runs out when the loop stands still. */
  keepTime(): void
}

export type WatchdogMessage = 'begin' | 'end' | readonly string[]

/** Starts the thread. */
export function startWatchdog(data: WatchdogData): Watchdog {
  const url = new URL(`./watchdog-thread${extname(import.meta.url)}`, import.meta.url)
  const thread = new Worker(url, { workerData: data, stdin: false })
  thread.unref()
  const tell = (message: WatchdogMessage) => thread.postMessage(message)
  const begin = () => tell('begin')
  return {
    begin,
    end: () => tell('end'),
    know: (files) => tell([...files]),
    keepTime() {
      begin()
      setInterval(begin, Math.min(1000, data.timeoutMs / 4)).unref()
    },
  }
}
