// The hooks of an experiment as a whole: which are called when, and where the log of callbacks goes. They run in a separate process:
// the controller runs no code of the project. A callback that fails, hangs or ends its process is reported and changes nothing of
// the experiment.
import { extname, join } from 'node:path'
import {
  type ExperimentResult,
  type LogLevel,
  type PluginCard,
  type PluginSpec,
  type ToWatch,
  type WatchStart,
  watchProtocol,
} from '../../contracts/index.ts'
import {
  type Clock,
  guardedProcess,
  lastPrinted,
  openChild,
  type PluginReference,
  type ProcessPlace,
} from '../../kernel/index.ts'
import type { ExperimentRow, Lease, OpenStore } from '../../store/index.ts'
import { pluginFilesOf } from '../workers/worker-process.ts'
import { besideWorkers, type WorkerSandbox } from '../workers/worker-sandbox.ts'

export type ExperimentHooks = ReturnType<typeof openExperimentHooks>

interface HooksOptions {
  readonly store: OpenStore
  readonly experiment: ExperimentRow
  readonly lease?: Lease | undefined
  readonly outputDir: string
  readonly projectDir: string
  readonly plugins: readonly PluginReference[]
  readonly clock: Clock
  readonly hidden?: readonly string[] | undefined
  /** How recipe code is shut in; absent: it is not. */
  readonly sandbox?: WorkerSandbox | undefined
  /** Of the plugins of the project. */
  readonly cards: readonly Pick<PluginCard, 'type' | 'kind'>[]
}

/** Folder in that of the experiment in which hooks of the whole experiment can write. */
const written = 'callbacks'
/** The one callback of ours that hears of an experiment as a whole. */
const hearing = new Set(['debug_logger'])

export function openExperimentHooks(options: HooksOptions) {
  const { store, experiment, lease, outputDir, projectDir, plugins, hidden = [], sandbox, cards, clock } = options
  const { id: experiment_id, name, hypothesis, plan } = experiment
  const stream = `experiment:${experiment_id}`
  const waiting: string[] = []
  const own = new Set(cards.flatMap(({ type, kind }) => (type === 'callback' ? [kind] : [])))
  const callbacks = plan.experiment.callbacks.filter(({ kind }) => own.has(kind) || hearing.has(kind))
  const write = [{ folder: join(outputDir, written) }]
  const watch = watchExperiment({
    projectDir,
    plugins,
    hidden,
    sandbox:
      callbacks.length === 0 || sandbox === undefined
        ? undefined
        : besideWorkers(sandbox, { read: [outputDir], write }),
    callbacks,
    log: (level, text) => waiting.push(`${level}: ${text}`),
  })
  // What callbacks log has a place in the record only between hooks: elsewhere others append to the same stream.
  const keep = async () => {
    const texts = waiting.splice(0)
    if (texts.length === 0) return
    const { nextEvent } = await store.cursor(stream)
    const at = new Date(clock.now()).toISOString()
    const events = texts.map((text, i) => ({ type: 'notice' as const, seq: nextEvent + i, at, experiment_id, text }))
    await store.append(stream, nextEvent - 1, events, lease)
  }
  // One hook after another: runs of two arms may start at the same time.
  let turn: Promise<void> = Promise.resolve()
  const call = (message: ToWatch) => {
    turn = turn.then(() => watch.call(message)).then(keep)
    return turn
  }
  const scope = { experimentId: experiment_id, experiment: name, outputDir, hypothesis }
  const groups = new Map<string, Promise<void>>()
  return {
    started: () => call({ hook: 'onExperimentStart', scope }),
    /** The first run of an arm starts. Later ones of the same arm are no news. */
    group(arm: string) {
      const called = groups.get(arm) ?? call({ hook: 'onGroupStart', scope, arm })
      groups.set(arm, called)
      return called
    },
    ended: (result: ExperimentResult) => call({ hook: 'onExperimentEnd', scope, result }),
    [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose](),
  }
}

interface WatchOptions {
  readonly projectDir: string
  readonly plugins: readonly PluginReference[]
  /** Paths that their code must not see. */
  readonly hidden?: readonly string[] | undefined
  /** Where their process lives; absent: on this machine as it is. */
  readonly sandbox?: ProcessPlace | undefined
  /** Those that hear of it; without any, nothing is started. */
  readonly callbacks: readonly PluginSpec[]
  /** What callbacks log, and what became of them. */
  log(level: LogLevel, text: string): void
}

/** Longest that the callbacks may take over one hook, with the start of their process on a busy machine. */
const HOOK_MS = 3 * 60_000
/** Lines that callbacks may log in one experiment. */
const MOST_LINES = 1_000

/** Calls the hooks of callbacks in their process. */
export function watchExperiment({ projectDir, plugins, hidden = [], sandbox, callbacks, log }: WatchOptions) {
  if (callbacks.length === 0) return { call: async () => {}, [Symbol.asyncDispose]: async () => {} }
  let lines = 0
  const start: WatchStart = {
    project_dir: projectDir,
    plugin_files: pluginFilesOf(plugins),
    callbacks: [...callbacks],
  }
  const child = openChild({
    protocol: watchProtocol,
    start: guardedProcess({
      script: new URL(`../../runner/worker/watch-child${extname(import.meta.url)}`, import.meta.url),
      cwd: projectDir,
      hidden,
      sandbox,
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
  // What callbacks get wrong changes nothing of the experiment.
  const opened = child.call('open', start).catch(() => {})
  return {
    /** Calls a hook and waits until all callbacks have run. Never throws. */
    async call(message: ToWatch) {
      await child.call('hook', message, { timeoutMs: HOOK_MS }).catch(() => {})
    },
    async [Symbol.asyncDispose]() {
      await child.close()
      await opened
      await ended
    },
  }
}
