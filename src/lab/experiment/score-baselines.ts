// The models that an experiment names beside its arms: each is asked the tasks of a benchmark once, in the words that checkpoints
// are asked in, and scored by the same scorer. Their scores stand in the record of the experiment and belong to no run, so that
// nothing that ranks arms can take one of them for an arm.

import type { BaselineScore, Benchmark, ExperimentEvent, Prediction } from '../../contracts/index.ts'
import { EvsysError, hashOf, problemsOf, toRecord } from '../../kernel/index.ts'
import { modelClient } from '../../models/index.ts'
import { baselinesOf } from '../../record/index.ts'
import { answersOf, withModel } from '../evaluation/evaluate-model.ts'
import type { ExperimentSession } from './experiment-session.ts'

/** Names of models that are asked through a client; `base_model` is scored by runs of its own. */
export function namedModels({ models }: Pick<Benchmark, 'models'>): string[] {
  return [...new Set(models)].filter((model) => model !== 'base_model')
}

/** Scores the named models that the record has no score of by this scorer. */
export async function scoreBaselines(session: ExperimentSession, signal: AbortSignal): Promise<void> {
  const { store, experiment, sealed } = session
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
      await recordScore(session, await scoreOne({ session, signal }, benchmark, model))
    }
  }
}

interface Scoring {
  readonly session: ExperimentSession
  readonly signal: AbortSignal
}

async function scoreOne(scoring: Scoring, benchmark: Benchmark, model: string): Promise<BaselineScore> {
  const { session, signal } = scoring
  const { sealed, secretSource, onCost } = session
  const { name, split } = benchmark
  try {
    const onAnswer = ({ cost_usd }: Prediction) => onCost(cost_usd ?? 0)
    const asked = { benchmark, client: modelClient(model), secretSource, signal, onAnswer }
    const isInFolders = sealed.sealed.some((each) => each.name === name && each.in_folders === true)
    const { scored, usage } = isInFolders ? await attempted(asked, session, model) : await answered(asked, session)
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

async function answered(asked: Asked, { sealed }: ExperimentSession) {
  const { name } = asked.benchmark
  const { predictions, usage } = await answersOf(asked, sealed.tasks(name))
  return { scored: await sealed.score(name, predictions), usage }
}

async function attempted(asked: Asked, { sealed, experiment }: ExperimentSession, model: string) {
  const { signal, onAnswer } = asked
  const label = `${experiment.id}-${hashOf(model).slice(0, 12)}`
  const { value, usage } = await withModel(asked, (client) =>
    sealed.attempt(asked.benchmark.name, { label, seed: 42, step: 'final', signal, policy: () => client, onAnswer }),
  )
  return { scored: value.scored, usage }
}

async function recordScore(
  { store, experiment, lease, clock }: ExperimentSession,
  score: BaselineScore,
): Promise<void> {
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
