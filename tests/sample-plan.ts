// Plans and events for tests of the record.
import { Plan, type RunEvent, type Store } from '../src/contracts/index.ts'

export interface PlanOptions {
  readonly name?: string | undefined
  readonly hypothesis?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly configHash?: string | undefined
  /** One run each. */
  readonly seeds?: readonly number[] | undefined
}

/** One arm, one run per seed, named `a-1`, `a-2`... */
export function samplePlan({
  name = 'sample',
  hypothesis,
  tags = [],
  configHash = 'c',
  seeds = [1],
}: PlanOptions): Plan {
  const runs = seeds.map((seed) => ({
    name: `a-${seed}`,
    arm: 'a',
    seed,
    config: {
      name: `a-${seed}`,
      data: { source_kind: 'jsonl', path: 'train.jsonl' },
      model: { name: 'evsys/tiny' },
      algorithm: { kind: 'sft' },
      seed,
    },
    config_hash: `${configHash}-${seed}`,
  }))
  return Plan.parse({
    experiment: {
      version: 1,
      name,
      metadata: { tags, ...(hypothesis === undefined ? {} : { hypothesis }) },
      runs: runs.map((run) => run.config),
    },
    config_hash: configHash,
    arms: [{ name: 'a', params: {}, seeds }],
    runs,
    notices: [],
  })
}

let made = 0

/** Records a new experiment. Its ids are new in this process; `at` may be given where order matters. */
export async function recordSample(
  store: Store,
  options: PlanOptions & { at?: string | undefined } = {},
): Promise<{ experimentId: string; runIds: string[] }> {
  made += 1
  const plan = samplePlan(options)
  const experimentId = `exp_${process.pid}_${made}`
  const runIds = plan.runs.map((_, i) => `run_${process.pid}_${made}_${i}`)
  await store.createExperiment({ experimentId, at: options.at ?? TIME, plan, runIds, provenance: { evsys: '0' } })
  return { experimentId, runIds }
}

/** One experiment with one run: its id. */
export async function recordRun(store: Store): Promise<string> {
  const [runId = ''] = (await recordSample(store)).runIds
  return runId
}

export const TIME = '2026-01-02T03:04:05.678Z'

type Body<E> = E extends unknown ? Omit<E, 'seq' | 'at' | 'run_id'> : never

/** Events of a run, numbered from `from`. */
export function eventsOf(runId: string, bodies: readonly Body<RunEvent>[], from = 1): RunEvent[] {
  return bodies.map((body, i) => ({ ...body, seq: from + i, at: TIME, run_id: runId }) as RunEvent) // what Body leaves out
}
