// The models that an experiment names beside its arms: each is asked the tasks of a benchmark once, in the words that checkpoints
// are asked in, and scored by the same scorer. Their scores stand in the record of the experiment and belong to no run, so that
// nothing that ranks arms can take one of them for an arm.

import type { BaselineScore, Benchmark, PluginSpec, Prediction } from '../../contracts/index.ts'
import { announceWait, EvsysError, errorRecord, hashOf } from '../../kernel/index.ts'
import { baselinesOf } from '../../record/index.ts'
import { answersOf, withModel } from '../evaluation/evaluate-model.ts'
import { appendEvents } from './begin-experiment.ts'
import { namedModels } from './check-experiment.ts'
import type { ExperimentSession } from './experiment-session.ts'

/** Scores the named models that the record has no score of by this scorer. */
export async function scoreBaselines(session: ExperimentSession, signal: AbortSignal): Promise<void> {
  const { store, experiment, sealed } = session
  const known = await baselinesOf(store, experiment.id)
  for (const benchmark of experiment.plan.experiment.metadata.benchmark) {
    for (const { label: model, client } of namedModels(benchmark)) {
      const isDone = known.some(
        (each) =>
          each.model === model &&
          each.benchmark === benchmark.name &&
          each.scorer_hash === sealed.hash(benchmark.name) &&
          each.error === undefined,
      )
      if (isDone) continue
      signal.throwIfAborted()
      const score = await scoreOne(session, benchmark, { model, client }, signal)
      await appendEvents(session, [{ type: 'baseline.finished', ...score }])
      if (score.error !== undefined) {
        session.options.onNotice?.(`${model} has no score on ${benchmark.name}: ${score.error.message}`)
      }
    }
  }
}

async function scoreOne(
  session: ExperimentSession,
  benchmark: Benchmark,
  { model, client }: { model: string; client: PluginSpec },
  signal: AbortSignal,
): Promise<BaselineScore> {
  const { sealed, secretSource, onCost } = session
  const { name, split } = benchmark
  let n = 0
  using waiting = announceWait((seconds) =>
    session.options.onNotice?.(`${model}: no answer to ${name} for ${seconds} s (${n} answers are there)`),
  )
  try {
    const onAnswer = ({ cost_usd }: Prediction) => {
      n += 1
      waiting.restart()
      onCost(cost_usd ?? 0)
    }
    const asked = { benchmark, client, secretSource, signal, onAnswer }
    const isInFolders = sealed.sealed.some((each) => each.name === name && each.in_folders === true)
    const { scored, usage } = isInFolders ? await attempted(asked, session, model) : await answered(asked, session)
    const { rewards: _rewards, predictions: _predictions, judge, ...score } = scored
    onCost(judge?.cost_usd ?? 0)
    const isUnpriced = usage.unpriced > 0 || judge?.cost_usd === null
    const cost_usd = isUnpriced ? null : usage.costUsd + (judge?.cost_usd ?? 0)
    return { model, benchmark: name, split, ...score, cost_usd }
  } catch (error) {
    signal.throwIfAborted()
    if (EvsysError.is(error) && error.code === 'BUDGET_EXCEEDED') throw error
    const nothing = { metrics: {}, n_tasks: 0, n_infra_failed: 0, scorer_hash: sealed.hash(name), cost_usd: null }
    return { model, benchmark: name, split, ...nothing, error: errorRecord(error) }
  }
}

type Asked = Parameters<typeof answersOf>[0]

async function answered(asked: Asked, { sealed }: ExperimentSession) {
  const { signal, benchmark } = asked
  const { name } = benchmark
  const { predictions, usage } = await answersOf(asked, sealed.tasks(name))
  return { scored: await sealed.score(name, predictions, { signal }), usage }
}

async function attempted(asked: Asked, { sealed, experiment }: ExperimentSession, model: string) {
  const { signal, onAnswer } = asked
  const label = `${experiment.id}-${hashOf(model).slice(0, 12)}`
  const { value, usage } = await withModel(asked, (client) =>
    sealed.attempt(asked.benchmark.name, { label, seed: 42, step: 'final', signal, policy: () => client, onAnswer }),
  )
  return { scored: value.scored, usage }
}
