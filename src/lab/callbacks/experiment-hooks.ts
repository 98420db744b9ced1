// The hooks of an experiment beside its record: who is told what and when, and where the words of callbacks go.
import type { ExperimentResult } from '../../contracts/index.ts'
import type { Clock, PluginReference } from '../../kernel/index.ts'
import type { ExperimentRow, Lease, OpenStore } from '../../store/index.ts'
import { watchExperiment } from './watch-experiment.ts'

export interface ExperimentHooks extends AsyncDisposable {
  started(): Promise<void>
  /** The first run of an arm starts. Later ones of the same arm are no news. */
  group(arm: string): Promise<void>
  ended(result: ExperimentResult): Promise<void>
}

export interface HooksOptions {
  readonly store: OpenStore
  readonly experiment: ExperimentRow
  readonly lease?: Lease | undefined
  readonly outputDir: string
  readonly projectDir: string
  readonly plugins: readonly PluginReference[]
  readonly clock: Clock
  readonly hidden?: readonly string[] | undefined
}

export function openExperimentHooks(options: HooksOptions): ExperimentHooks {
  const { store, experiment, lease, outputDir, projectDir, plugins, hidden = [], clock } = options
  const { id: experiment_id, name, hypothesis, plan } = experiment
  const stream = `experiment:${experiment_id}`
  const waiting: string[] = []
  const watch = watchExperiment({
    projectDir,
    plugins,
    hidden,
    callbacks: plan.experiment.callbacks,
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
  const tell = (message: Parameters<typeof watch.tell>[0]) => {
    turn = turn.then(() => watch.tell(message)).then(keep)
    return turn
  }
  const scope = { experimentId: experiment_id, experiment: name, outputDir, hypothesis }
  const groups = new Map<string, Promise<void>>()
  return {
    started: () => tell({ hook: 'onExperimentStart', scope }),
    group(arm) {
      const told = groups.get(arm) ?? tell({ hook: 'onGroupStart', scope, arm })
      groups.set(arm, told)
      return told
    },
    ended: (result) => tell({ hook: 'onExperimentEnd', scope, result }),
    [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose](),
  }
}
