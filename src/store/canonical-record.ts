// What must be equal between an experiment that was interrupted and resumed and one that was not: everything but times,
// attempts, costs and ids. Two records are the same research exactly when their canonical forms are equal.

import { createHash } from 'node:crypto'
import type { CheckpointRow, EvalRow, Metrics, ResearchEntry, RunRow } from '../contracts/index.ts'
import { canonicalJson } from '../kernel/index.ts'
import type { Database } from './database/database.ts'
import { COARSE_STEPS } from './database/rollup.ts'
import { readExperiment } from './read-experiments.ts'
import { readCheckpoints, readEvals, readRuns } from './read-runs.ts'
import { readEvents } from './streams.ts'

interface CanonicalOptions {
  /** Content hash of a checkpoint, by its reference. Without it only step and kind are compared. */
  readonly contentOf?: ((ref: string) => Promise<string>) | undefined
}

/** Undefined: there is no such experiment. */
export async function canonicalRecord(
  database: Database,
  experimentId: string,
  { contentOf }: CanonicalOptions = {},
): Promise<unknown> {
  const experiment = await readExperiment(database, experimentId)
  if (experiment === undefined) return undefined
  const runs = await readRuns(database, experimentId)
  const canonicalRuns: unknown[] = []
  for (const run of runs) canonicalRuns.push(await canonicalRun(database, run, runs, contentOf))
  const research = await canonicalResearch(database, experimentId)
  return {
    name: experiment.name,
    status: experiment.status,
    hypothesis: experiment.hypothesis ?? null,
    tags: experiment.tags,
    config_hash: experiment.configHash,
    verdict: experiment.verdict ?? null,
    conclusion: experiment.conclusion ?? null,
    evidence: withoutMessages(experiment.evidence ?? null),
    words: experiment.words.map(({ author, text }) => ({ author, text })),
    best_arm: experiment.bestArm ?? null,
    runs: canonicalRuns,
    research,
  }
}

async function canonicalRun(
  database: Database,
  run: RunRow,
  runs: readonly RunRow[],
  contentOf: CanonicalOptions['contentOf'],
): Promise<unknown> {
  const nameOf = (id: string | undefined) => runs.find((each) => each.id === id)?.name ?? null
  const checkpoints: unknown[] = []
  for (const each of await readCheckpoints(database, run.id))
    checkpoints.push(await canonicalCheckpoint(each, contentOf))
  return {
    name: run.name,
    arm: run.arm,
    seed: run.seed,
    stage: run.stage ?? null,
    after: nameOf(run.afterRun),
    parent: nameOf(run.parentRun),
    config_hash: run.configHash,
    status: run.status,
    error: run.error?.code ?? null,
    engine_id: run.engineId ?? null,
    data_hash: run.dataHash ?? null,
    num_steps: run.numSteps ?? null,
    best_step: run.bestStep ?? null,
    metrics: lasting(run.metrics),
    invalid: run.invalid ?? null,
    kept: run.kept ?? null,
    points: await hashPoints(database, run.id, isLasting),
    evals: (await readEvals(database, run.id)).map(canonicalEval),
    checkpoints,
  }
}

function canonicalEval(row: EvalRow): unknown {
  return {
    benchmark: row.benchmark,
    step: row.step ?? null,
    split: row.split,
    metrics: lasting(row.metrics),
    bounds: row.bounds ?? null,
    n_tasks: row.nTasks,
    n_infra_failed: row.nInfraFailed,
    scorer_hash: row.scorerHash,
    rewards: row.rewards ?? null,
    error: row.error?.code ?? null,
  }
}

async function canonicalCheckpoint(
  { step, kind, final, ref }: CheckpointRow,
  contentOf: CanonicalOptions['contentOf'],
): Promise<unknown> {
  return { step, kind, final, content: contentOf === undefined ? null : await contentOf(ref) }
}

// The words of an error may hold paths and process ids; its code is what happened.
function withoutMessages(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMessages)
  if (typeof value !== 'object' || value === null) return value
  if ('code' in value && 'message' in value) return value.code
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutMessages(each)]))
}

// Metrics that measure the machine or the bill: they differ between two executions of the same research.
const PASSING = /^time\/|^(time|cost)_per_task$|^latency_p|^memory_gb$/

function isLasting(metric: string): boolean {
  return !PASSING.test(metric)
}

function lasting(metrics: Metrics): Metrics {
  return Object.fromEntries(Object.entries(metrics).filter(([name]) => isLasting(name)))
}

// All points of a run in a few bytes per metric. They are read a page at a time: a run may have more of them than memory holds.
const PAGE = 10_000

/** Per metric that `isWanted`: how many points, and the hash of `[[step, value], ...]` as canonical JSON. */
async function hashPoints(
  database: Database,
  runId: string,
  isWanted: (metric: string) => boolean,
): Promise<Record<string, { n: number; hash: string }>> {
  const metrics = await database.query
    .selectFrom('run')
    .innerJoin('point_rollup', 'point_rollup.run_ix', 'run.ix')
    .innerJoin('metric_key', 'metric_key.ix', 'point_rollup.key_ix')
    .select(['run.ix as run', 'metric_key.ix as key', 'metric_key.name'])
    .distinct()
    .where('run.id', '=', runId)
    .where('point_rollup.width', '=', COARSE_STEPS)
    .orderBy('metric_key.name')
    .execute()
  const hashes: Record<string, { n: number; hash: string }> = {}
  for (const { run, key, name } of metrics) if (isWanted(name)) hashes[name] = await hashMetric(database, run, key)
  return hashes
}

async function hashMetric(database: Database, run: number, key: number): Promise<{ n: number; hash: string }> {
  const hash = createHash('sha256').update('[')
  let n = 0
  let last = -1
  for (;;) {
    const page = await database.query
      .selectFrom('point')
      .select(['step', 'value'])
      .where('run_ix', '=', run)
      .where('key_ix', '=', key)
      .where('step', '>', last)
      .orderBy('step')
      .limit(PAGE)
      .execute()
    const end = page.at(-1)
    if (end === undefined) break
    const pairs = canonicalJson(page.map(({ step, value }) => [step, value])).slice(1, -1)
    hash.update(n === 0 ? pairs : `,${pairs}`)
    n += page.length
    last = end.step
  }
  return { n, hash: hash.update(']').digest('hex') }
}

// The journal of a research session without what an interruption adds to it: times, bills, calls that were sent again.
/** The lasting entries, in order; undefined where the experiment is no research session. */
async function canonicalResearch(database: Database, experimentId: string): Promise<unknown[] | undefined> {
  const entries: unknown[] = []
  let isSession = false
  const intended = new Set<string>()
  for (let afterSeq = 0; ; ) {
    const stream = `experiment:${experimentId}`
    const page = await readEvents(database, { stream, afterSeq, limit: PAGE, types: ['research'] })
    for (const event of page) {
      if (event.type !== 'research') continue
      isSession = true
      const { entry } = event
      if (entry.type === 'run.intended' && intended.has(entry.run)) continue // begun again after a crash
      if (entry.type === 'run.intended') intended.add(entry.run)
      const lasting = lastingEntry(entry)
      if (lasting !== undefined) entries.push(lasting)
    }
    if (page.length < PAGE) return isSession ? entries : undefined
    afterSeq = page.at(-1)?.seq ?? afterSeq
  }
}

function lastingEntry({ at: _at, ...entry }: ResearchEntry): unknown {
  switch (entry.type) {
    case 'session.resumed':
    case 'session.interrupted':
    case 'check.intended':
    case 'call.lost':
    case 'notice':
      return undefined
    case 'call.intended': {
      const { sending, forecast: _forecast, ...lasting } = entry
      return sending > 1 ? undefined : lasting
    }
    case 'call.answered':
    case 'call.failed': {
      const { usage: _usage, ...lasting } = entry
      return lasting
    }
    case 'attempt.checked': {
      const { dry_run_memory_bytes: _memory, ...lasting } = entry
      return lasting
    }
    case 'run.finished': {
      const { wall_s: _wallS, peak_memory_bytes: _memory, curve: _curve, watch: _watch, ...lasting } = entry
      return lasting
    }
    default:
      return entry
  }
}
