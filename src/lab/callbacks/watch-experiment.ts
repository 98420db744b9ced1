// Tells callbacks of an experiment as a whole, in a process of its own: the controller runs no code of the project. A callback
// that fails, hangs or ends its process is told of and changes nothing of the experiment.
import { extname } from 'node:path'
import type { LogLevel, PluginSpec } from '../../contracts/index.ts'
import { type PluginReference, startGuardedProcess } from '../../kernel/index.ts'
import { FromWatch, type ToWatch, type WatchStart } from './watch-protocol.ts'

export interface ExperimentWatch extends AsyncDisposable {
  /** Calls a hook and waits until all callbacks have heard it. Never throws. */
  tell(message: ToWatch): Promise<void>
}

export interface WatchOptions {
  readonly projectDir: string
  readonly plugins: readonly PluginReference[]
  /** Paths that their code must not see. */
  readonly hidden?: readonly string[]
  /** Those of the experiment file; without any, nothing is started. */
  readonly callbacks: readonly PluginSpec[]
  /** What callbacks log, and what became of them. */
  log(level: LogLevel, text: string): void
}

/** Longest that the callbacks may take over one hook, with the start of their process on a busy machine. */
const HOOK_MS = 3 * 60_000
const PRINTED_BYTES = 8 * 1024 * 1024
/** Lines that callbacks may log in one experiment. */
const MOST_LINES = 1_000

export function watchExperiment({ projectDir, plugins, hidden = [], callbacks, log }: WatchOptions): ExperimentWatch {
  if (callbacks.length === 0) return { tell: async () => {}, [Symbol.asyncDispose]: async () => {} }
  let heard = () => {}
  let printed = 0
  let lines = 0
  let isGone = false
  const start: WatchStart = {
    project_dir: projectDir,
    plugin_files: plugins.map(({ spec, from }) => ({ spec, from })),
    callbacks: [...callbacks],
  }
  const child = startGuardedProcess({
    script: new URL(`./watch-child${extname(import.meta.url)}`, import.meta.url),
    start,
    cwd: projectDir,
    hidden,
    heapMb: 512,
    memoryMb: 4096,
    onMessage(message) {
      const told = FromWatch.parse(message)
      if (told.type === 'heard') heard()
      else if (lines++ < MOST_LINES) log(told.level, told.text)
    },
    onPrinted(text) {
      printed += text.length
      return printed <= PRINTED_BYTES
    },
  })
  const ended = child.ended.then((end) => {
    isGone = true
    heard()
    if (end.stopped === 'closed') return
    const last = end.printed.trim().split('\n').at(-1) ?? ''
    log('warn', `the process of the callbacks ended before the experiment did${last === '' ? '' : `: ${last}`}`)
  })
  return {
    async tell(message) {
      if (isGone) return
      const answered = new Promise<void>((resolve) => {
        heard = resolve
      })
      const deadline = setTimeout(() => child.stop('silent'), HOOK_MS)
      child.send(message)
      await answered
      clearTimeout(deadline)
    },
    async [Symbol.asyncDispose]() {
      child.stop('closed')
      await ended
    },
  }
}
