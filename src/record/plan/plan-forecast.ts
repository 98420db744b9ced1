// What a plan will take: steps, tokens and time, measured on earlier runs of the same recipe where the record has any.
import { availableParallelism } from 'node:os'
import type { Plan, RunConfig, RunRow } from '../../contracts/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { isReused } from './held-runs.ts'

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
  const earlier = await earlierRuns(store, plan)
  const measured: Pace[] = []
  for (const run of earlier.slice(0, MOST_RUNS)) measured.push(await paceOf(store, run))
  const usual = earlier.find(({ numSteps }) => numSteps !== undefined)?.numSteps
  const steps = plan.runs.map(({ config, arm }) => plannedSteps(plan, arm, config) ?? usual)
  const known = steps.flatMap((each) => each ?? [])
  const total = known.length === steps.length ? sum(known) : null
  const atATime = Math.min(
    plan.runs.length,
    maxConcurrent ?? plan.experiment.max_concurrent_arms ?? availableParallelism(),
  )
  const pace = averagePace(measured)
  return {
    runs: plan.runs.length,
    steps: total,
    evals: total === null ? null : sum(known.map((each) => evalsIn(plan, each))),
    tokens: total === null || pace?.tokens === undefined ? null : Math.round(total * pace.tokens),
    wallS:
      total === null || pace === undefined ? null : (total * pace.stepS + plan.runs.length * pace.fixedS) / atATime,
    costUsd: pace?.costUsd === undefined ? null : pace.costUsd * plan.runs.length,
    maxConcurrent: atATime,
    measuredOn: measured.length,
  }
}

function plannedSteps({ arms }: Plan, arm: string, { algorithm }: RunConfig): number | undefined {
  const own = algorithm.params.max_steps
  return typeof own === 'number' ? own : arms.find(({ name }) => name === arm)?.max_steps
}

function evalsIn({ experiment }: Plan, steps: number): number {
  return sum(
    experiment.metadata.benchmark.map(({ run_every }) => (run_every === 0 ? 1 : Math.floor(steps / run_every))),
  )
}

// The same recipe on the same place: what a step costs there does not depend on its learning rate.
async function earlierRuns(store: OpenStore, plan: Plan): Promise<RunRow[]> {
  const recipes = new Set(plan.runs.map(({ config }) => recipeOf(config)))
  const found: RunRow[] = []
  for (const { id } of await store.experiments({ limit: MOST_EXPERIMENTS })) {
    if (found.length >= MOST_RUNS) break
    for (const run of await store.runs(id)) {
      if (run.kind !== 'training' || run.status !== 'completed' || run.wallS === undefined || isReused(run)) continue
      if (recipes.has(recipeOf(run.config))) found.push(run)
    }
  }
  return found
}

function recipeOf({ model, algorithm, backend, data }: RunConfig): string {
  const { batch_size, lora_rank } = algorithm.params
  return JSON.stringify([backend.kind, model.name, algorithm.kind, batch_size, lora_rank, data.path])
}

interface Pace {
  readonly stepS: number
  /** Of a run, whatever its length. */
  readonly fixedS: number
  readonly tokens: number | undefined
  readonly costUsd: number | undefined
}

const MOST_STEPS = 1_000

async function paceOf(store: OpenStore, run: RunRow): Promise<Pace> {
  const stream = `run:${run.id}`
  const events = await store.events({ stream, afterSeq: 0, limit: MOST_STEPS, types: ['step.finished'] })
  const [first, last] = [events[0], events.at(-1)]
  const between = events.length - 1
  const spanS = first === undefined || last === undefined ? 0 : (Date.parse(last.at) - Date.parse(first.at)) / 1000
  const steps = Math.max(1, run.numSteps ?? events.length)
  const wallS = run.wallS ?? 0
  const stepS = between > 0 ? Math.max(0, spanS / between) : wallS / steps
  const [tokens] = await store.curve({ runId: run.id, key: 'data/tokens', maxPoints: 1 })
  return { stepS, fixedS: Math.max(0, wallS - stepS * steps), tokens: tokens?.mean, costUsd: run.costUsd }
}

function averagePace(paces: readonly Pace[]): Pace | undefined {
  if (paces.length === 0) return undefined
  const average = (of: (pace: Pace) => number | undefined) => {
    const values = paces.flatMap((pace) => of(pace) ?? [])
    return values.length === 0 ? undefined : sum(values) / values.length
  }
  return {
    stepS: average(({ stepS }) => stepS) ?? 0,
    fixedS: average(({ fixedS }) => fixedS) ?? 0,
    tokens: average(({ tokens }) => tokens),
    costUsd: average(({ costUsd }) => costUsd),
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
