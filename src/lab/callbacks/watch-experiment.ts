// Tells callbacks of an experiment as a whole, in a process of its own: the controller runs no code of the project. A callback
// that fails, hangs or ends its process is told of and changes nothing of the experiment.
import { extname } from 'node:path'
import { type LogLevel, type PluginSpec, type ToWatch, type WatchStart, watchProtocol } from '../../contracts/index.ts'
import { guardedProcess, lastPrinted, openChild, type PluginReference } from '../../kernel/index.ts'

export interface ExperimentWatch extends AsyncDisposable {
  /** Calls a hook and waits until all callbacks have heard it. Never throws. */
  tell(message: ToWatch): Promise<void>
}

export interface WatchOptions {
  readonly projectDir: string
  readonly plugins: readonly PluginReference[]
  /** Paths that their code must not see. */
  readonly hidden?: readonly string[] | undefined
  /** Those of the experiment file; without any, nothing is started. */
  readonly callbacks: readonly PluginSpec[]
  /** What callbacks log, and what became of them. */
  log(level: LogLevel, text: string): void
}

/** Longest that the callbacks may take over one hook, with the start of their process on a busy machine. */
const HOOK_MS = 3 * 60_000
/** Lines that callbacks may log in one experiment. */
const MOST_LINES = 1_000

export function watchExperiment({ projectDir, plugins, hidden = [], callbacks, log }: WatchOptions): ExperimentWatch {
  if (callbacks.length === 0) return { tell: async () => {}, [Symbol.asyncDispose]: async () => {} }
  let lines = 0
  const start: WatchStart = {
    project_dir: projectDir,
    plugin_files: plugins.map(({ spec, from }) => ({ spec, from })),
    callbacks: [...callbacks],
  }
  const child = openChild({
    protocol: watchProtocol,
    start: guardedProcess({
      script: new URL(`../../runner/worker/watch-child${extname(import.meta.url)}`, import.meta.url),
      cwd: projectDir,
      hidden,
      heapMb: 512,
      memoryMb: 4096,
    }),
    handlers: {
      log({ level, text }) {
        if (lines++ < MOST_LINES) log(level, text)
      },
    },
    deathOf: () => new Error('the callbacks are gone'), // reported below, once
  })
  const ended = child.ended.then((end) => {
    if (end.stopped === 'closed') return
    const last = lastPrinted(end)
    log('warn', `the process of the callbacks ended before the experiment did${last === '' ? '' : `: ${last}`}`)
  })
  const call = async (calling: Promise<null>) => {
    await calling.catch(() => {}) // what callbacks get wrong changes nothing of the experiment
  }
  const opened = call(child.call('open', start))
  return {
    async tell(message) {
      await call(child.call('hook', message, { timeoutMs: HOOK_MS }))
    },
    async [Symbol.asyncDispose]() {
      await child.close()
      await opened
      await ended
    },
  }
}
