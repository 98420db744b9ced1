// A research session for people: a table of its experiments, the best so far, the bill.
import type { AttemptVerdict, ResearchAttempt, ResearchState } from '../../contracts/index.ts'
import { shellWord } from '../../kernel/index.ts'
import {
  claimOf,
  earlyEnds,
  extraMetrics,
  forecastOf,
  type SessionClaim,
  sessionClaim,
  tradeOffs,
  workedSeconds,
} from '../../research/index.ts'
import type { Colors } from './colors.ts'
import type { Output } from './output.ts'
import { table } from './table.ts'
import { countText, durationText, numberText, rangeText, signedText, usdText } from './text.ts'

type Paper = Pick<Output, 'colors' | 'width' | 'quiet'>

export function verdictColor(verdict: AttemptVerdict | null, colors: Colors): (text: string) => string {
  if (verdict === 'confirmed' || verdict === 'provisional') return colors.green
  if (verdict === 'failed') return colors.red
  return verdict === 'inconclusive' ? colors.yellow : colors.dim
}

/** The end of a session in a few lines. */
export function researchResultText(document: ResearchDocument, { task, ...paper }: Paper & { task: string }): string {
  const { colors } = paper
  const head = document.end === null ? document.status : document.end.text
  if (paper.quiet) return head
  return [
    `${colors.bold(document.task)}: ${head}`,
    bestLine(document, colors),
    ...claimLine(document, colors),
    ...tradeOffLines(document, paper),
    billLine(document),
    `${colors.dim('next:')} evsys research report --task ${shellWord(task)}   evsys research status   evsys show ${document.experiment_id}`,
  ].join('\n')
}

/** Where a session stands: experiment by experiment. */
export function researchStatusText(document: ResearchDocument & { controller: string | null }, paper: Paper): string {
  const { colors, width } = paper
  const { task, status, experiment_id, controller, attempts, metric, direction } = document
  const who = controller === null ? '' : `, ${controller}`
  const better = direction === 'min' ? 'lower is better' : 'higher is better'
  const rows = attempts.map(({ id, title, score, gain, verdict, reason }) => [
    id,
    title,
    score === null ? '-' : `${numberText(score.mean)} (${score.n})`,
    gain === null ? '-' : `${signedText(gain.mean)}`,
    verdict ?? 'racing',
    reason ?? '',
  ])
  return [
    `${colors.bold(task)} (${experiment_id}): ${status}${who}; ${metric}, ${better}`,
    '',
    table(rows, { head: ['', 'experiment', metric, 'gain', 'verdict', 'why'], width, paintHead: colors.dim }),
    '',
    bestLine(document, colors),
    ...claimLine(document, colors),
    ...tradeOffLines(document, paper),
    billLine(document),
    ...costLines(document),
    ...earlyLine(document),
    ...(document.end === null ? [] : [document.end.text]),
    ...document.backlog.map(({ author, text }) => `backlog: ${text} (${author})`),
  ].join('\n')
}

function bestLine({ best, baseline, metric }: ResearchDocument, colors: Colors): string {
  if (best === null || best.score === null || baseline === null) return 'nothing is measured yet'
  if (best.number === 0) return `best so far: the baseline, ${metric} ${numberText(baseline.mean)}`
  const paint = verdictColor(best.verdict, colors)
  return `best so far: ${best.id} ${best.title}, ${metric} ${numberText(best.score.mean)} (baseline ${numberText(baseline.mean)}), ${paint(best.verdict ?? 'racing')}${best.claim === null || best.claim === best.verdict ? '' : `, ${best.claim}`}`
}

/** Candidates that no other beats by all metrics, by the objective; the best is marked. */
function tradeOffLines({ trade_offs: found }: ResearchDocument, { colors, width }: Paper): string[] {
  if (found === null) return []
  const names = found.metrics.map(({ metric }) => metric)
  const rows = found.candidates
    .filter(({ on_front, best }) => on_front || best)
    .map(({ attempt, title, values, n, best }) => [
      best ? `${attempt} *` : attempt,
      ...names.map((name) => (values[name] == null ? '-' : numberText(values[name]))),
      String(n),
      title,
    ])
  const beaten = found.candidates.length - rows.length
  return [
    '',
    `trade-offs: no other is as good by all of ${names.join(', ')}${beaten === 0 ? '' : `; ${countText(beaten, 'candidate')} beaten`}`,
    table(rows, { head: ['', ...names, 'seeds', 'experiment'], width, paintHead: colors.dim }),
    '',
  ]
}

const claimColors = { supported: 'green', refuted: 'red', inconclusive: 'yellow' } as const

/** What is claimed of the best: `supported: a4 against the baseline on the hidden split, pass@1 0.931 and 0.003: +0.928 (...)`. */
function claimLine({ claim, metric }: ResearchDocument, colors: Colors): string[] {
  if (claim === null) return []
  const { verdict, treatment, effect, interval, confidence, seeds, items, scores } = claim
  const means = [scores.treatment, scores.baseline].map((mean) => (mean === null ? '-' : numberText(mean)))
  const over = [countText(seeds.length, 'fresh seed'), ...(typeof items === 'number' ? [countText(items, 'task')] : [])]
  const size =
    effect === null || interval === null
      ? 'no interval'
      : `${signedText(effect)} (${rangeText(interval)}; ${Math.round(100 * confidence)} % interval over ${over.join(' and ')})`
  const word = colors[claimColors[verdict]](verdict)
  return [
    `claim: ${word}: ${treatment} against the baseline on the hidden split, ${metric} ${means.join(' against ')}: ${size}`,
  ]
}

function billLine({ n_experiments, n_kept, n_duplicates, n_reused, spend }: ResearchDocument): string {
  const money = isFree(spend) ? '' : `, ${usdText(spend.usd)}`
  const assumed = spend.assumed_usd > 0 ? ` (${usdText(spend.assumed_usd)} of it assumed)` : ''
  const known = n_duplicates === 0 ? '' : `, ${countText(n_duplicates, 'duplicate')} answered from memory`
  const reused = n_reused === 0 ? '' : `, ${n_reused} of them taken from the record`
  return `${countText(n_experiments, 'experiment')}, ${n_kept} kept, ${countText(spend.runs, 'run')}${reused} in ${durationText(spend.wall_s)}${money}${assumed}${known}`
}

function isFree({ calls, usd, tokens }: ResearchDocument['spend']): boolean {
  return calls === 0 || (usd === 0 && tokens === 0)
}

function earlyLine({ early_ends: { killed, audited, wrong, regret } }: ResearchDocument): string[] {
  if (killed + audited === 0) return []
  const checked =
    audited === 0
      ? 'none was continued to check'
      : `${wrong} of ${audited} that were continued to check ended better than the best, a loss of ${numberText(regret)} sigma each`
  return [`${countText(killed, 'run')} ended early by the training curve; ${checked}`]
}

/** Money and time by experiment and by confirmed gain, caps, and what is still to come. */
function costLines({ spend, budget, forecast, n_experiments }: ResearchDocument): string[] {
  if (n_experiments === 0 && forecast === null) return []
  const each = (usd: number | null, seconds: number | null) =>
    [
      ...(usd === null || isFree(spend) ? [] : [usdText(usd)]),
      ...(seconds === null ? [] : [durationText(seconds)]),
    ].join(' and ')
  const gain =
    spend.s_per_confirmed_gain === null
      ? 'nothing is confirmed yet'
      : `${each(spend.usd_per_confirmed_gain, spend.s_per_confirmed_gain)} per confirmed gain`
  const experiment =
    spend.s_per_experiment === null
      ? []
      : [`${each(spend.usd_per_experiment, spend.s_per_experiment)} per experiment`, gain]
  const caps = Object.entries(budget).map(([name, cap]) => `${name} ${name === 'usd' ? usdText(Number(cap)) : cap}`)
  const left = forecast?.experiments_left ?? 0
  const rest = left > 0 ? [`about ${each(forecast?.usd_left ?? null, forecast?.s_left ?? null)} for ${left} more`] : []
  return [
    ...(experiment.length === 0 ? [] : [`cost: ${experiment.join(', ')}`]),
    ...(caps.length === 0 ? [] : [`caps: ${caps.join(', ')}${rest.length === 0 ? '' : `; ${rest.join('')}`}`]),
  ]
}

// A research session as one JSON document: what `research run` and `research status` print.
type ResearchDocument = ReturnType<typeof researchDocument>

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
    best: best === undefined ? null : { ...attemptDocument(best), ...confirmationDocument(best) },
    claim: claimDocument(sessionClaim(state)),
    choice: settings?.choice ?? null,
    trade_offs: tradeOffsDocument(state),
    attempts: state.attempts.map(attemptDocument),
    n_experiments: spend.experiments,
    n_kept: gauges.keeps,
    n_reused: state.attempts.flatMap(({ runs }) => runs).filter(({ reusedFrom }) => reusedFrom !== undefined).length,
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

function isBetter({ confirmation }: ResearchAttempt): boolean {
  return confirmation !== undefined && claimOf(confirmation) !== 'not confirmed'
}

// The claim in the words of the text; the journal keeps what it follows from.
function confirmationDocument({ confirmation }: ResearchAttempt) {
  return { claim: confirmation === undefined ? null : claimOf(confirmation), confirmation: confirmation ?? null }
}

function tradeOffsDocument(state: ResearchState) {
  const found = tradeOffs(state)
  if (found === undefined) return null
  const candidates = found.candidates.map(({ values, isOnFront, isBest, ...each }) => ({
    ...each,
    values: Object.fromEntries(found.metrics.map(({ metric }, i) => [metric, values[i] ?? null])),
    on_front: isOnFront,
    best: isBest,
  }))
  return { metrics: found.metrics, candidates }
}

function claimDocument(claim: SessionClaim | undefined) {
  if (claim === undefined) return null
  const { seeds, interval, ...rest } = claim
  return { ...rest, interval, seeds, n_seeds: seeds.length }
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
    reason: (isBetter(attempt) ? attempt.confirmation?.reason : reason) ?? null,
    score: scoreOf(attempt),
    gain: gain ?? null,
    failure: failure === undefined ? null : { class: failure.class, reason: failure.reason },
    metrics: extraMetrics(attempt),
    dry_run_memory_gb: attempt.dryRunMemoryBytes === undefined ? null : attempt.dryRunMemoryBytes / 1e9,
    cost_usd: costUsd,
    wall_s: wallS,
    n_runs: attempt.runs.length,
  }
}
