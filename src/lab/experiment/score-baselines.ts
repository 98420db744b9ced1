// The models that an experiment names beside its arms: each is asked the tasks of a benchmark once, in the words that checkpoints
// are asked in, and scored by the same scorer. Their scores stand in the record of the experiment and belong to no run, so that
// nothing that ranks arms can take one of them for an arm.
import type { BaselineScore, Benchmark, ExperimentEvent, Prediction } from '../../contracts/index.ts'
import { type Clock, EvsysError, hashOf, problemsOf, type SecretSource, toRecord } from '../../kernel/index.ts'
import { modelClient } from '../../models/index.ts'
import type { ExperimentRow, Lease, OpenStore } from '../../store/index.ts'
import { answersOf, withModel } from '../evaluation/evaluate-model.ts'
import type { SealedBenchmarks } from './sealed-benchmarks.ts'

export interface BaselineOptions {
  readonly store: OpenStore
  readonly experiment: ExperimentRow
  readonly lease: Lease
  readonly sealed: Pick<SealedBenchmarks, 'sealed' | 'tasks' | 'score' | 'hash' | 'attempt'>
  readonly secretSource: Pick<SecretSource, 'get'>
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Hears what each answer cost, where that is known; throws when there is no more to spend. */
  onCost(usd: number): void
}

/** Names of models that are asked through a client; `base_model` is scored by runs of its own. */
export function namedModels({ models }: Pick<Benchmark, 'models'>): string[] {
  return [...new Set(models)].filter((model) => model !== 'base_model')
}

/** Scores the named models that the record has no score of by this scorer. */
export async function scoreBaselines(options: BaselineOptions): Promise<void> {
  const { store, experiment, sealed, signal } = options
  const known = await baselinesOf(store, experiment.id)
  for (const benchmark of experiment.plan.experiment.metadata.benchmark) {
    for (const model of namedModels(benchmark)) {
      const isDone = known.some(
        (each) =>
          each.model === model &&
          each.benchmark === benchmark.name &&
          each.scorer_hash === sealed.hash(benchmark.name) &&
          each.error === undefined,
      )
      if (isDone) continue
      signal.throwIfAborted()
      await tell(options, await scoreOne(options, benchmark, model))
    }
  }
}

/** The newest score of each model on each benchmark. */
export async function baselinesOf(store: Pick<OpenStore, 'events'>, experimentId: string): Promise<BaselineScore[]> {
  const events = await store.events({
    stream: `experiment:${experimentId}`,
    afterSeq: 0,
    limit: 100_000,
    types: ['baseline.finished'],
  })
  const newest = new Map<string, BaselineScore>()
  for (const event of events) {
    if (event.type !== 'baseline.finished') continue
    const { seq: _seq, at: _at, experiment_id: _id, type: _type, ...score } = event
    newest.set(JSON.stringify([score.model, score.benchmark]), score)
  }
  return [...newest.values()]
}

/** What models that judge cost, over all evaluations of these runs. */
export async function judgeCosts(store: Pick<OpenStore, 'events'>, runIds: readonly string[]): Promise<number[]> {
  const types = ['eval.finished'] as const
  const events = await Promise.all(
    runIds.map((id) => store.events({ stream: `run:${id}`, afterSeq: 0, limit: 100_000, types })),
  )
  return events.flat().flatMap((event) => (event.type === 'eval.finished' ? (event.judge?.cost_usd ?? []) : []))
}

async function scoreOne(options: BaselineOptions, benchmark: Benchmark, model: string): Promise<BaselineScore> {
  const { sealed, secretSource, signal, onCost } = options
  const { name, split } = benchmark
  try {
    const onAnswer = ({ cost_usd }: Prediction) => onCost(cost_usd ?? 0)
    const asked = { benchmark, client: modelClient(model), secretSource, signal, onAnswer }
    const isInFolders = sealed.sealed.some((each) => each.name === name && each.in_folders === true)
    const { scored, usage } = isInFolders ? await attempted(asked, options, model) : await answered(asked, options)
    const { rewards: _rewards, failures: _failures, predictions: _predictions, judge, ...score } = scored
    onCost(judge?.cost_usd ?? 0)
    const isUnpriced = usage.unpriced > 0 || judge?.cost_usd === null
    return {
      model,
      benchmark: name,
      split,
      ...score,
      cost_usd: isUnpriced ? null : usage.costUsd + (judge?.cost_usd ?? 0),
    }
  } catch (error) {
    signal.throwIfAborted()
    if (EvsysError.is(error) && error.code === 'BUDGET_EXCEEDED') throw error
    const [problem] = problemsOf(error)
    const record = problem === undefined ? new EvsysError('INTERNAL', 'unknown failure').toRecord() : toRecord(problem)
    const nothing = { metrics: {}, n_tasks: 0, n_infra_failed: 0, scorer_hash: sealed.hash(name), cost_usd: null }
    return { model, benchmark: name, split, ...nothing, error: record }
  }
}

type Asked = Parameters<typeof answersOf>[0]

async function answered(asked: Asked, { sealed }: BaselineOptions) {
  const { name } = asked.benchmark
  const { predictions, usage } = await answersOf(asked, sealed.tasks(name))
  return { scored: await sealed.score(name, predictions), usage }
}

async function attempted(asked: Asked, { sealed, experiment }: BaselineOptions, model: string) {
  const { signal, onAnswer } = asked
  const label = `${experiment.id}-${hashOf(model).slice(0, 12)}`
  const { value, usage } = await withModel(asked, (client) =>
    sealed.attempt(asked.benchmark.name, {
      ...{ label, seed: 42, step: 'final', signal, policy: () => client },
      ...(onAnswer === undefined ? {} : { onAnswer }),
    }),
  )
  return { scored: value.scored, usage }
}

async function tell({ store, experiment, lease, clock }: BaselineOptions, score: BaselineScore): Promise<void> {
  const stream = `experiment:${experiment.id}`
  const { nextEvent } = await store.cursor(stream)
  const at = new Date(clock.now()).toISOString()
  const event: ExperimentEvent = {
    seq: nextEvent,
    at,
    experiment_id: experiment.id,
    type: 'baseline.finished',
    ...score,
  }
  await store.append(stream, nextEvent - 1, [event], lease)
}
