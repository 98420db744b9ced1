// Does a run in this process, with the parts that a worker has: real plugins, real backend, real loop. Scores come from a table of
// expected answers, as the scorer would give them.

import { builtins } from '../src/builtins/index.ts'
import type { AnyPlugin, Item, Prediction, RunAssignment, Scored } from '../src/contracts/index.ts'
import { createRegistry, keyedRandom, manualClock } from '../src/kernel/index.ts'
import { createRunReporter } from '../src/runner/train/run-scope.ts'
import { trainRun } from '../src/runner/train/train-run.ts'

export interface TrainedHere {
  readonly outcome: 'finished' | 'interrupted'
  readonly items: readonly Item[]
  readonly logged: readonly string[]
  /** Events of one type, in order. */
  of<T extends Item['type']>(type: T): Extract<Item, { type: T }>[]
}

export interface HereOptions {
  readonly plugins?: readonly AnyPlugin[] | undefined
  readonly stopping?: AbortSignal | undefined
  /** The score of answers; default: every answer earns nothing. */
  score?(question: {
    benchmark: string
    step?: number | undefined
    predictions: readonly Prediction[]
  }): Scored['metrics']
  /** Sees every item as it is told. */
  onItem?(item: Item): void
}

export async function trainHere(assignment: RunAssignment, options: HereOptions = {}): Promise<TrainedHere> {
  const registry = createRegistry()
  for (const plugin of await builtins()) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
  for (const plugin of options.plugins ?? []) registry.add(plugin, { rank: 'project', label: 'test' })
  const items: Item[] = []
  const logged: string[] = []
  const never = new AbortController().signal
  const outcome = await trainRun({
    assignment,
    stopping: options.stopping ?? never,
    reporter: createRunReporter({
      runId: assignment.run_id,
      nextItem: assignment.next_item,
      nextEvent: assignment.next_event,
      clock: manualClock(),
      async write(_number, item) {
        items.push(item)
        options.onItem?.(item)
      },
    }),
    services: {
      registry,
      signal: never,
      random: (...path) => keyedRandom(assignment.config.seed, ...path),
      log: (level, text) => logged.push(`${level} ${text}`),
      secret: (name) => {
        throw new Error(`no secret ${name}`)
      },
    },
    async askScore(question) {
      const metrics = options.score?.(question) ?? { pass_rate: 0 }
      const tasks = new Set(question.predictions.map(({ task_id }) => task_id))
      return { metrics, rewards: {}, n_tasks: tasks.size, n_infra_failed: 0, scorer_hash: 'test' }
    },
  })
  return {
    outcome,
    items,
    logged,
    of: <T extends Item['type']>(type: T) =>
      items.filter((item): item is Extract<Item, { type: T }> => item.type === type),
  }
}
