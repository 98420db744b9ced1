// Trains with a plugin as a worker does: the real loop and the real trainer around the mock engine, in this process.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { builtins } from '../builtins/index.ts'
import {
  type AnyPlugin,
  type Item,
  type Metrics,
  type PluginSpec,
  type Row,
  RunAssignment,
} from '../contracts/index.ts'
import { createRegistry, keyedRandom, systemClock, temporaryFolder } from '../kernel/index.ts'
import { createRunReporter, trainRun } from '../runner/index.ts'

/** A short run that uses plugins of the test beside the built-in ones. */
export interface TrainFixture {
  /** Rows of the format that the algorithm trains on. */
  readonly rows?: readonly Row[] | undefined
  /** Default: 3. */
  readonly steps?: number | undefined
  readonly seed?: number | undefined
  readonly algorithm?: PluginSpec | undefined
  readonly backend?: PluginSpec | undefined
  readonly callbacks?: readonly PluginSpec[] | undefined
  /** Chat renderer by its kind. */
  readonly renderer?: string | undefined
}

export interface Trained {
  /** Metrics of every step, in order. */
  readonly steps: readonly Metrics[]
  /** Everything that the run recorded, as it is written to the record. */
  readonly items: readonly Item[]
  readonly logged: readonly string[]
}

const chats: readonly Row[] = ['red', 'green', 'blue'].map((colour) => ({
  messages: [
    { role: 'user', content: `Say ${colour}.` },
    { role: 'assistant', content: colour },
  ],
}))

/** Trains a few steps with the given plugins; a failure of one rejects as it would fail the run. */
export async function trainPlugins(plugins: readonly AnyPlugin[], fixture: TrainFixture = {}): Promise<Trained> {
  const { rows = chats, steps = 3, seed = 1, algorithm, backend, callbacks = [], renderer } = fixture
  const dir = temporaryFolder('testing')
  try {
    const run_dir = join(dir, 'run')
    const assignment = RunAssignment.parse({
      experiment_id: 'exp_test',
      experiment: 'test',
      run_id: 'run_test',
      run_name: 'test',
      arm: 'test',
      attempt: 1,
      config: {
        name: 'test',
        seed,
        data: { source_kind: 'in_memory', rows },
        model: { name: 'mock', renderer_name: renderer },
        algorithm: {
          kind: algorithm?.kind ?? 'sft',
          params: { max_steps: steps, batch_size: 2, ...algorithm?.params },
        },
        backend: backend ?? { kind: 'mock' },
      },
      config_hash: 'test',
      run_dir,
      segment_file: join(run_dir, 'segments', '1.jsonl'),
      next_item: 1,
      next_event: 1,
      benchmarks: [],
      callbacks,
      project_dir: dir,
      plugin_files: [],
      log_rollouts: false,
      checkpoints_kept: 3,
    })
    return await train(assignment, plugins)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

async function train(assignment: RunAssignment, plugins: readonly AnyPlugin[]): Promise<Trained> {
  const registry = createRegistry()
  for (const plugin of await builtins()) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
  for (const plugin of plugins) registry.add(plugin, { rank: 'project', label: 'test' })
  const { signal } = new AbortController()
  const items: Item[] = []
  const logged: string[] = []
  await trainRun({
    assignment,
    stopping: signal,
    reporter: createRunReporter({
      runId: assignment.run_id,
      nextItem: assignment.next_item,
      nextEvent: assignment.next_event,
      clock: systemClock,
      write: async (_number, item) => void (item.type === 'evaluation' || items.push(item)), // it has no benchmarks
    }),
    services: {
      registry,
      signal,
      random: (...path) => keyedRandom(assignment.config.seed, ...path),
      log: (level, text) => logged.push(`${level} ${text}`),
      secret: (name) => {
        throw new Error(`there is no secret ${name}`)
      },
    },
    evaluate: () => Promise.reject(new Error('a run of a test has no benchmarks')),
  })
  const steps = items.flatMap((item) => (item.type === 'step.finished' ? [item.metrics] : []))
  return { steps, items, logged }
}
