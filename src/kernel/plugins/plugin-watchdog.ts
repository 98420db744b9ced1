// A thread beside the plugins that notices when they do not return. The thread that hangs cannot tell where; the watching one
// can, and ends the process.
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'

/** What the thread is started with. */
export type WatchdogData = {
  /** Begins every line to the controller. */
  token: string
  timeoutMs: number
  /** The author's files: the line to report is in one of them. */
  files: readonly string[]
  /** Process that must stay alive. */
  parentPid: number
}

export type Watchdog = {
  /** Starts the clock. */
  begin(): void
  /** Stops the clock. */
  end(): void
}

/** Starts the thread. */
export function startWatchdog(data: WatchdogData): Watchdog {
  const url = new URL(`./plugin-watchdog-thread${extname(import.meta.url)}`, import.meta.url)
  const thread = new Worker(url, { workerData: data, stdin: false })
  thread.unref()
  return { begin: () => thread.postMessage('begin'), end: () => thread.postMessage('end') }
}
