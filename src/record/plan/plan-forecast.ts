// What a plan will take: steps, tokens and time, measured on earlier runs of the same recipe where the record has any.
import { availableParallelism } from 'node:os'
import type { Plan, RunConfig, RunRow, TrainingRunRow } from '../../contracts/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { isDryRun } from '../evidence/dry-run.ts'
import { isReused } from '../evidence/held-runs.ts'

export interface PlanForecast {
  readonly runs: number
  /** Training steps over all runs; null: unknown until the data is read. */
  readonly steps: number | null
  /** Evaluations during and after training. */
  readonly evals: number | null
  readonly tokens: number | null
  readonly wallS: number | null
  readonly costUsd: number | null
  readonly maxConcurrent: number
  /** Earlier runs that time, tokens and cost were measured on. */
  readonly measuredOn: number
}

/** Experiments that are looked through, the newest first, and runs that are measured. */
const MOST_EXPERIMENTS = 50
const MOST_RUNS = 5

export async function planForecast(
  store: OpenStore,
  plan: Plan,
  { maxConcurrent }: { maxConcurrent?: number | undefined } = {},
): Promise<PlanForecast> {
  if (plan.runs.length === 0) return nothing
  const earlier = await earlierRuns(store, plan)
  const measured: Pace[] = []
  for (const { run, atATime } of earlier.slice(0, MOST_RUNS)) measured.push(await paceOf(store, run, atATime))
  const usual = earlier.find(({ run }) => run.numSteps !== undefined)?.run.numSteps
  const steps = plan.runs.map(({ config, arm }) => plannedSteps(plan, arm, config) ?? usual)
  const known = steps.flatMap((each) => each ?? [])
  const total = known.length === steps.length ? sum(known) : null
  const atATime = Math.min(
    plan.runs.length,
    maxConcurrent ?? plan.experiment.max_concurrent_arms ?? availableParallelism(),
  )
  const pace = averagePace(measured)
  const evals = total === null ? null : sum(known.map((each) => evalsIn(plan, each)))
  return {
    runs: plan.runs.length,
    steps: total,
    evals,
    tokens: total === null || pace?.tokens === undefined ? null : Math.round(total * pace.tokens),
    wallS:
      total === null || evals === null || pace === undefined ? null : wallOf(plan, pace, { total, evals, atATime }),
    costUsd: pace?.costUsd === undefined ? null : pace.costUsd * plan.runs.length,
    maxConcurrent: atATime,
    measuredOn: measured.length,
  }
}

/** Of runs that are all in the record already. */
const nothing: PlanForecast = {
  ...{ runs: 0, steps: 0, evals: 0, tokens: 0, wallS: 0, costUsd: 0 },
  ...{ maxConcurrent: 0, measuredOn: 0 },
}

/** Time of all runs, so many at a time: the last of them start together, however few they are. */
function wallOf(plan: Plan, pace: Pace, { total, evals, atATime }: { total: number; evals: number; atATime: number }) {
  const each = pace.fixedS + (total * pace.stepS + evals * pace.evalS) / plan.runs.length
  // Runs on one machine share its cores. More of them at a time than were measured lie between no gain and all of it.
  const isShared = plan.runs.some(({ config }) => config.backend.kind === 'local')
  const slower = isShared ? Math.sqrt(atATime / pace.atATime) : 1
  return Math.ceil(plan.runs.length / atATime) * each * slower
}

function plannedSteps({ arms }: Plan, arm: string, { algorithm }: RunConfig): number | undefined {
  const own = algorithm.params.max_steps
  return typeof own === 'number' ? own : arms.find(({ name }) => name === arm)?.max_steps
}

/** Evaluations in the loop, and after it those of benchmarks that were not scored at the selected step. */
function evalsIn({ experiment, objective }: Plan, steps: number): number {
  const { benchmark } = experiment.metadata
  const selecting = benchmark.find(({ name }) => name === objective?.benchmark)?.run_every ?? 0
  const selected = selecting > 0 && selecting <= steps ? selecting : steps
  return sum(
    benchmark.map(({ run_every }) =>
      run_every === 0 ? 1 : Math.floor(steps / run_every) + (selected % run_every === 0 ? 0 : 1),
    ),
  )
}

// The same recipe on the same place: what a step costs there does not depend on its learning rate.
async function earlierRuns(store: OpenStore, plan: Plan): Promise<{ run: TrainingRunRow; atATime: number }[]> {
  const recipes = new Set(plan.runs.map(({ config }) => recipeOf(config)))
  const whole: { run: TrainingRunRow; atATime: number }[] = []
  const trials: typeof whole = []
  for (const experiment of await store.experiments({ limit: MOST_EXPERIMENTS })) {
    if (whole.length >= MOST_RUNS) break
    const runs = await store.runs(experiment.id)
    const worked = sum(runs.map(({ wallS }) => wallS ?? 0))
    const atATime = experiment.wallS === undefined ? 1 : Math.max(1, worked / Math.max(experiment.wallS, 1e-3))
    for (const run of runs) {
      if (run.kind !== 'training' || run.status !== 'completed' || run.wallS === undefined || isReused(run)) continue
      // The time of one that was resumed is that of its last attempt.
      if (run.attempt > 1 || !recipes.has(recipeOf(run.config))) continue
      if (isDryRun(experiment)) trials.push({ run, atATime })
      else whole.push({ run, atATime })
    }
  }
  // A few steps say less than whole runs.
  return whole.length > 0 ? whole : trials
}

function recipeOf({ model, algorithm, backend, data }: RunConfig): string {
  const { batch_size, lora_rank } = algorithm.params
  return JSON.stringify([backend.kind, model.name, algorithm.kind, batch_size, lora_rank, data.path])
}

interface Pace {
  readonly stepS: number
  readonly evalS: number
  /** Of a run, whatever its length. */
  readonly fixedS: number
  /** Runs at a time while it was measured. */
  readonly atATime: number
  readonly tokens: number | undefined
  readonly costUsd: number | undefined
}

const MOST_EVENTS = 1_000
/** A gap this many times the usual one is no step: the machine slept, or a service was away. */
const PAUSE = 20

async function paceOf(store: OpenStore, run: RunRow, atATime: number): Promise<Pace> {
  const types = ['run.started', 'data.loaded', 'step.finished', 'eval.started', 'eval.finished'] as const
  const events = await store.events({ stream: `run:${run.id}`, afterSeq: 0, limit: MOST_EVENTS, types: [...types] })
  const gaps: number[] = []
  const evals: number[] = []
  let [from, evalFrom] = [Number.NaN, Number.NaN]
  let nSteps = 0
  let firstS = 0
  for (const { type, at } of events) {
    const now = Date.parse(at) / 1000
    if (type === 'eval.started') evalFrom = now
    else if (type === 'eval.finished') {
      const tookS = Number.isNaN(evalFrom) ? 0 : now - evalFrom
      evals.push(tookS)
      from += tookS // what scoring took is no part of a step
    } else if (type === 'step.finished') {
      // The first one may hold what happens once: what is measured of it counts only where there is no other.
      if (nSteps === 0) firstS = now - from
      else gaps.push(now - from)
      nSteps++
      from = now
    } else from = now
  }
  const usual = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 0
  const kept = gaps.filter((gap) => gap <= Math.max(PAUSE * usual, 1))
  const stepS = Math.max(0, kept.length === 0 ? firstS || 0 : sum(kept) / kept.length)
  const evalS = evals.length === 0 ? 0 : Math.max(0, sum(evals) / evals.length)
  const steps = run.numSteps ?? nSteps
  const [tokens] = await store.curve({ runId: run.id, key: 'data/tokens', maxPoints: 1 })
  const pausedS = sum(gaps) - sum(kept) - stepS * (gaps.length - kept.length)
  const fixedS = Math.max(0, (run.wallS ?? 0) - stepS * steps - evalS * evals.length - Math.max(0, pausedS))
  return { stepS, evalS, fixedS, atATime, tokens: tokens?.mean, costUsd: run.costUsd }
}

function averagePace(paces: readonly Pace[]): Pace | undefined {
  if (paces.length === 0) return undefined
  const average = (of: (pace: Pace) => number | undefined) => {
    const values = paces.flatMap((pace) => of(pace) ?? [])
    return values.length === 0 ? undefined : sum(values) / values.length
  }
  return {
    stepS: average(({ stepS }) => stepS) ?? 0,
    evalS: average(({ evalS }) => evalS) ?? 0,
    fixedS: average(({ fixedS }) => fixedS) ?? 0,
    atATime: average(({ atATime }) => atATime) ?? 1,
    tokens: average(({ tokens }) => tokens),
    costUsd: average(({ costUsd }) => costUsd),
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
