// A research session as one JSON document: what `research run` and `research status` print.
import type { ResearchAttempt, ResearchState } from '../../contracts/index.ts'
import { earlyEnds, extraMetrics, forecastOf, workedSeconds } from '../../research/index.ts'

export type ResearchDocument = ReturnType<typeof researchDocument>

export function researchDocument(experimentId: string, state: ResearchState, nowMs: number) {
  const { settings, spend, gauges } = state
  const baseline = state.attempts.find(({ id }) => id === state.baseline)
  const best = state.attempts.find(({ id }) => id === state.incumbent)
  const gains = state.confirmations.filter(({ confirmed }) => confirmed).length
  const wallS = workedSeconds(state, nowMs)
  return {
    experiment_id: experimentId,
    task: settings?.task ?? '',
    status: state.paused && state.status === 'running' ? ('paused' as const) : state.status,
    metric: settings?.metric ?? '',
    direction: settings?.direction ?? ('min' as const),
    proposer: settings?.proposer.kind ?? '',
    strategy: settings?.strategy.kind ?? '',
    keep_rule: settings?.keep_rule.kind ?? '',
    baseline: baseline === undefined ? null : scoreOf(baseline),
    best: best === undefined ? null : { ...attemptDocument(best), confirmation: best.confirmation ?? null },
    attempts: state.attempts.map(attemptDocument),
    n_experiments: spend.experiments,
    n_kept: gauges.keeps,
    n_duplicates: gauges.duplicates,
    failures: gauges.failures,
    looks: state.looks,
    early_ends: earlyEnds(state),
    controls: state.controls.map(({ attempt, seed, deviation, drifted }) => ({ attempt, seed, deviation, drifted })),
    drifted: state.drifted,
    backlog: state.backlog.map(({ author, text }) => ({ author, text })),
    banned: state.banned,
    spend: {
      usd: spend.usd,
      assumed_usd: spend.assumedUsd,
      tokens: spend.tokens,
      calls: spend.calls,
      lost_calls: spend.lostCalls,
      runs: spend.runs,
      run_s: spend.runS,
      wall_s: wallS,
      usd_per_experiment: spend.experiments === 0 ? null : spend.usd / spend.experiments,
      s_per_experiment: spend.experiments === 0 ? null : wallS / spend.experiments,
      usd_per_confirmed_gain: gains === 0 ? null : spend.usd / gains,
      s_per_confirmed_gain: gains === 0 ? null : wallS / gains,
    },
    budget: settings?.budget ?? {},
    forecast: forecastDocument(state),
    end: state.end ?? null,
  }
}

/** What the next experiment will take, and all that the cap on experiments allows; null once the session has ended. */
function forecastDocument(state: ResearchState) {
  if (state.status === 'ended' || state.status === 'new') return null
  const { experiment, experimentsLeft, rest } = forecastOf(state, state.spend.tokens > 0)
  return {
    usd_per_experiment: experiment.usd,
    s_per_experiment: experiment.seconds,
    experiments_left: experimentsLeft ?? null,
    usd_left: rest?.usd ?? null,
    s_left: rest?.seconds ?? null,
  }
}

function scoreOf({ scores }: ResearchAttempt): { mean: number; n: number } | null {
  if (scores.length === 0) return null
  return { mean: scores.reduce((sum, { value }) => sum + value / scores.length, 0), n: scores.length }
}

function attemptDocument(attempt: ResearchAttempt) {
  const { id, number, title, family, category, mode, parents, verdict, reason, gain, failure, costUsd, wallS } = attempt
  return {
    id,
    number,
    title,
    family,
    category,
    mode,
    parents,
    verdict: verdict ?? null,
    reason: (attempt.confirmation?.confirmed === true ? attempt.confirmation.reason : reason) ?? null,
    score: scoreOf(attempt),
    gain: gain ?? null,
    failure: failure === undefined ? null : { class: failure.class, reason: failure.reason },
    metrics: extraMetrics(attempt),
    dry_run_memory_gb: attempt.dryRunMemoryBytes === undefined ? null : attempt.dryRunMemoryBytes / 1e9,
    cost_usd: costUsd,
    wall_s: wallS,
  }
}
