// A thread beside the plugins that notices when they do not return or take all memory. The thread that hangs cannot tell where;
// the watching one can, and ends the process.
import { Worker } from 'node:worker_threads'
import { startable } from './startable.ts'

/** What the thread is started with. */
export type WatchdogData = {
  /** Begins every line to the controller. */
  token: string
  timeoutMs: number
  /** What the process may take in all. */
  memoryMb: number
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
  const script = startable('plugin-watchdog-thread')
  const options = { workerData: data, execArgv: [] }
  const thread =
    'file' in script ? new Worker(script.file, options) : new Worker(script.code, { ...options, eval: true })
  thread.unref()
  thread.on('error', () => {}) // without it the controller still has a clock of its own
  return { begin: () => thread.postMessage('begin'), end: () => thread.postMessage('end') }
}
