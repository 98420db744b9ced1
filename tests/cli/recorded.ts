// A project with a record made through the store, as if its runs had been done: scores are given, nothing is trained.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { loadExperiment } from '../../src/config/index.ts'
import type { RunEvent, RunRow } from '../../src/contracts/index.ts'
import { manualClock } from '../../src/kernel/index.ts'
import { concludeExperiment } from '../../src/lab/experiment/conclude-experiment.ts'
import { outputDirOf } from '../../src/record/files/experiment-folder.ts'
import { openStore, requireTraining } from '../../src/store/index.ts'

export interface Recorded {
  /** End of its id: `exp_a` for `a`. */
  readonly id: string
  readonly name?: string | undefined
  readonly hypothesis?: string | undefined
  readonly tags?: readonly string[] | undefined
  /** Learning rates: the arms. */
  readonly rates?: readonly number[] | undefined
  readonly seeds?: number | undefined
  /** Without one the experiment is exploratory. */
  readonly minEffect?: number | undefined
  readonly scorerHash?: string | undefined
  /** By run, in the order of the plan. */
  readonly engines?: readonly string[] | undefined
  /** Reward of a task: 1 or 0. */
  readonly reward?: ((rate: number, seed: number, task: number) => number) | undefined
  /** The same on test; absent: as on validation. */
  readonly testReward?: ((rate: number, seed: number, task: number) => number) | undefined
  /** Runs of these arms fail. */
  readonly failing?: readonly number[] | undefined
  readonly day?: string | undefined
  readonly provenance?: Readonly<Record<string, unknown>> | undefined
  /** Steps of a run. */
  readonly steps?: number | undefined
  /** Time up to an event of a type, from the one before it; absent: all happens at one moment. */
  readonly seconds?: ((type: string) => number) | undefined
  /** Leaves it as a process that was killed leaves it. */
  readonly unfinished?: boolean | undefined
}

const tasks = 10

/** Records an experiment in the project at `dir`. Two arms and three seeds unless told otherwise; the higher rate is better. */
export async function recordExperiment(
  dir: string,
  recorded: Recorded,
): Promise<{ experimentId: string; runs: RunRow[] }> {
  const { id, day = '2026-01-31', scorerHash = 'a'.repeat(64), failing = [], provenance = {}, engines = [] } = recorded
  mkdirSync(join(dir, '.evsys'), { recursive: true })
  const clock = manualClock(Date.parse(`${day}T12:00:00Z`))
  await using store = await openStore(join(dir, '.evsys', 'evsys.db'), { clock })
  const { plan } = await loadExperiment({ value: fileOf(recorded) }, { cwd: dir })
  const experimentId = `exp_${id}`
  const runIds = plan.runs.map((_, i) => `run_${id}${String(i + 1).padStart(2, '0')}`)
  await store.createExperiment({ experimentId, at: now(clock), plan, runIds, provenance })
  const rows = await store.runs(experimentId)
  for (const run of rows) {
    if (recorded.unfinished === true && run !== rows[0]) continue
    clock.set(clock.now() + 10_000)
    const isFailing = failing.includes(rateOf(run))
    const items = isFailing
      ? failedEvents(run, now(clock))
      : completedEvents(run, now(clock), { ...recorded, scorerHash, engineId: engines[rows.indexOf(run)] ?? 'mock:1' })
    await store.push({ stream: `run:${run.id}`, fromSeq: 1, items })
  }
  const experiment = await store.findExperiment(experimentId)
  if (recorded.unfinished !== true) {
    await concludeExperiment(store, experiment, {
      outputDir: outputDirOf(experiment, dir),
      projectDir: dir,
      clock,
      wallS: 60,
    })
  }
  return { experimentId, runs: await store.runs(experimentId) }
}

function fileOf({ name = 'rates', hypothesis, tags = [], rates = [0.01, 0.1], seeds = 3, minEffect }: Recorded) {
  const claim = {
    treatment: { 'algorithm.params.learning_rate': rates.at(-1) },
    baseline: { 'algorithm.params.learning_rate': rates[0] },
    min_effect: minEffect,
  }
  return {
    name,
    metadata: {
      ...(hypothesis === undefined ? {} : { hypothesis }),
      tags: [...tags],
      objective: { metric: 'val.pass@1', direction: 'max' },
      ...(minEffect === undefined ? {} : { claim }),
      benchmark: [
        { name: 'val', path: 'data/val', split: 'val', run_every: 5, metrics: ['pass@1'] },
        { name: 'test', path: 'data/test', split: 'test', metrics: ['pass@1'] },
      ],
    },
    n_repeats: seeds,
    matrix: {
      axes: { 'algorithm.params.learning_rate': [...rates] },
      base_run: {
        data: { path: 'data/train.jsonl' },
        model: { name: 'mock' },
        algorithm: { kind: 'sft', params: { max_steps: 10 } },
        backend: { kind: 'mock' },
      },
    },
  }
}

type Body<E> = E extends unknown ? Omit<E, 'seq' | 'at' | 'run_id'> : never

function numbered(
  run: RunRow,
  at: string,
  bodies: readonly Body<RunEvent>[],
  seconds: (type: string) => number = () => 0,
): RunEvent[] {
  let ms = Date.parse(at)
  return bodies.map((body, i) => {
    ms += 1000 * seconds(body.type)
    return { ...body, seq: i + 1, at: new Date(ms).toISOString(), run_id: run.id } as RunEvent // what Body leaves out
  })
}

function completedEvents(
  run: RunRow,
  at: string,
  recorded: Recorded & { scorerHash: string; engineId: string },
): RunEvent[] {
  const { reward = defaultReward, testReward = reward, scorerHash, engineId, steps = 10, seconds } = recorded
  const rate = rateOf(run)
  const scoredBy = (rewardOf: typeof reward) => {
    const rewards = Object.fromEntries(
      Array.from({ length: tasks }, (_, task) => [`task-${task}`, [rewardOf(rate, run.seed, task)]]),
    )
    const mean = Object.values(rewards).reduce((sum, [value = 0]) => sum + value, 0) / tasks
    return { metrics: { 'pass@1': mean }, n_tasks: tasks, n_infra_failed: 0, scorer_hash: scorerHash, rewards }
  }
  const bodies: Body<RunEvent>[] = [
    {
      type: 'run.started',
      config_hash: run.configHash,
      attempt: 1,
      engine_id: engineId,
      num_steps: steps,
      code_hash: 'c'.repeat(64),
    },
    { type: 'data.loaded', n_rows: 40, data_hash: 'd'.repeat(64) },
    ...Array.from({ length: steps }, (_, step) => ({
      type: 'step.finished' as const,
      step,
      metrics: { train_mean_nll: 2 / (step + 1), 'data/tokens': 100 },
    })),
    { type: 'log', level: 'info', text: 'a line of a plugin' },
    { type: 'eval.started', benchmark: 'val', split: 'val', step: steps - 1 },
    { type: 'eval.finished', benchmark: 'val', split: 'val', step: steps - 1, ...scoredBy(reward) },
    { type: 'checkpoint.saved', step: steps - 1, kind: 'state', ref: `mock:///${run.name}/state`, final: true },
    { type: 'eval.started', benchmark: 'test', split: 'test' },
    { type: 'eval.finished', benchmark: 'test', split: 'test', ...scoredBy(testReward) },
    { type: 'run.finished', status: 'completed', metrics: { train_mean_nll: 0.2 }, best_step: steps - 1, wall_s: 5 },
  ]
  if (seconds === undefined) return numbered(run, at, bodies)
  const timed = numbered(run, at, bodies, seconds)
  const wall_s = (Date.parse(timed.at(-1)?.at ?? at) - Date.parse(at)) / 1000
  return timed.map((each) => (each.type === 'run.finished' ? { ...each, wall_s } : each))
}

function failedEvents(run: RunRow, at: string): RunEvent[] {
  const error = { code: 'WORKER_DIED' as const, message: 'the process of the run ended with exit code 3' }
  return numbered(run, at, [
    { type: 'run.started', config_hash: run.configHash, attempt: 1 },
    { type: 'run.finished', status: 'failed', metrics: {}, error },
  ])
}

// The higher rate is right more often, with a little noise from seed to seed.
function defaultReward(rate: number, seed: number, task: number): number {
  const right = rate >= 0.1 ? 7 + (seed % 2) : 3 + (seed % 3 === 0 ? 1 : 0)
  return task < right ? 1 : 0
}

function rateOf(run: RunRow): number {
  const { config } = requireTraining(run)
  return Number(config.algorithm.params.learning_rate)
}

function now(clock: { now(): number }): string {
  return new Date(clock.now()).toISOString()
}
