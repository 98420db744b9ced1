// Attempts and their runs in the fold of a session.
import type { ResearchEntryOf } from './research-journal.ts'
import type { RecordedRunOf, ResearchAttempt, ResearchState } from './research-state.ts'

type AttemptEntry = ResearchEntryOf<'attempt.begun' | 'attempt.checked' | 'attempt.repaired' | 'verdict'>

export function reduceAttempt(state: ResearchState, entry: AttemptEntry): ResearchState {
  switch (entry.type) {
    case 'attempt.begun':
      return begin(state, entry)
    case 'attempt.checked':
      return {
        ...state,
        attempts: changeAttempt(state, entry.attempt, (attempt) => ({
          ...attempt,
          checked: entry.failures.length === 0 ? 'passed' : 'failed',
          failures: entry.failures,
          dryRunMemoryBytes: entry.dry_run_memory_bytes ?? attempt.dryRunMemoryBytes,
        })),
      }
    case 'attempt.repaired':
      return repair(state, entry)
    case 'verdict':
      return judge(state, entry)
  }
}

function begin(state: ResearchState, entry: ResearchEntryOf<'attempt.begun'>): ResearchState {
  const { type: _type, at, attempt: id, call, idea, ...given } = entry
  const { origin } = entry
  const begun: ResearchAttempt = {
    ...given,
    id,
    scores: [],
    hidden: [],
    pairs: [],
    runs: [],
    repairs: 0,
    checked: 'no',
    failures: [],
    begunAt: at,
    costUsd: costOf(state, call),
    wallS: 0,
    idea,
    call,
  }
  const isCounted = origin === 'proposer' || origin === 'author'
  const begunState: ResearchState = {
    ...state,
    attempts: [...state.attempts, begun],
    calls: withUsed(state, call),
    backlog: origin === 'author' ? withoutFirstReady(state.backlog) : state.backlog,
    spend: isCounted ? { ...state.spend, experiments: state.spend.experiments + 1 } : state.spend,
  }
  return origin === 'baseline' ? { ...begunState, baseline: id, incumbent: id, kept: [id] } : begunState
}

function costOf({ calls }: ResearchState, call: string | undefined): number {
  return calls.find((each) => each.call === call)?.costUsd ?? 0
}

/** The calls, of which one has given what it was asked for. */
export function withUsed({ calls }: ResearchState, call: string | undefined): ResearchState['calls'] {
  return calls.map((each) => (each.call === call ? { ...each, used: true } : each))
}

/** The backlog without the idea that was ready first. */
export function withoutFirstReady(backlog: ResearchState['backlog']): ResearchState['backlog'] {
  const first = backlog.findIndex(({ idea }) => idea !== undefined)
  return backlog.filter((_, i) => i !== first)
}

function repair(state: ResearchState, entry: ResearchEntryOf<'attempt.repaired'>): ResearchState {
  const { idea, knobs, fingerprint, lines, files, turn } = entry
  return {
    ...state,
    attempts: changeAttempt(state, entry.attempt, (attempt) => ({
      ...attempt,
      idea,
      knobs,
      fingerprint,
      lines,
      files,
      title: idea.title,
      hypothesis: idea.hypothesis,
      repairs: turn,
      checked: 'no',
      costUsd: attempt.costUsd + costOf(state, entry.call),
    })),
    calls: withUsed(state, entry.call),
    gauges: { ...state.gauges, repairs: state.gauges.repairs + 1 },
  }
}

function judge(state: ResearchState, entry: ResearchEntryOf<'verdict'>): ResearchState {
  const { verdict, reason, gain, pairs, typical_gain, failure, author, at } = entry
  const before = state.attempts.find(({ id }) => id === entry.attempt)
  const isFirst = before?.verdict === undefined
  const attempts = changeAttempt(state, entry.attempt, (attempt) => ({
    ...attempt,
    verdict,
    reason,
    endedAt: at,
    gain: gain ?? attempt.gain,
    pairs: pairs ?? attempt.pairs,
    failure: failure ?? attempt.failure,
    author: author ?? attempt.author,
  }))
  const isMiss = isFirst && before?.origin !== 'baseline' && before?.origin !== 'ablation' && verdict !== 'provisional'
  const failures =
    failure === undefined
      ? state.gauges.failures
      : { ...state.gauges.failures, [failure.class]: (state.gauges.failures[failure.class] ?? 0) + 1 }
  return {
    ...state,
    attempts,
    typicalGain: typical_gain ?? state.typicalGain,
    unanswered: author === undefined ? state.unanswered : withoutFirst(state, entry.attempt),
    gauges: { ...state.gauges, failures, sinceKeep: state.gauges.sinceKeep + (isMiss ? 1 : 0) },
  }
}

function withoutFirst({ unanswered }: ResearchState, id: string): ResearchState['unanswered'] {
  const first = unanswered.findIndex(({ steering }) => 'attempt' in steering && steering.attempt === id)
  return unanswered.filter((_, i) => i !== first)
}

/** The state after a run of an attempt was intended, or has ended. */
export function withRun(state: ResearchState, entry: ResearchEntryOf<'run.intended' | 'run.finished'>): ResearchState {
  const { run, seed, split, purpose } = entry
  const usedSeeds = state.usedSeeds.includes(seed) ? state.usedSeeds : [...state.usedSeeds, seed]
  if (entry.type === 'run.intended') {
    const running: RecordedRunOf = { run, seed, split, purpose, status: 'running' }
    return {
      ...state,
      usedSeeds,
      attempts: changeAttempt(state, entry.attempt, (attempt) => ({ ...attempt, runs: replaceRun(attempt, running) })),
    }
  }
  const { outcome, wall_s, peak_memory_bytes: peakMemoryBytes, curve, watch } = entry
  const scored = outcome.status === 'scored' ? outcome : undefined
  const killed = outcome.status === 'killed' ? outcome : undefined
  const ended: RecordedRunOf = {
    run,
    seed,
    split,
    purpose,
    status: outcome.status,
    wallS: wall_s,
    peakMemoryBytes,
    value: scored?.value,
    items: scored?.items,
    level: scored?.level,
    memoryBy: scored?.memory_by,
    accelerator: scored?.accelerator,
    reusedFrom: scored?.reused_from,
    claimed: scored?.claimed,
    failure: outcome.status === 'failed' ? outcome.failure : undefined,
    ended: killed?.reason,
    predicted: killed?.predicted,
    curve,
    watch,
  }
  const { spend, gauges } = state
  const repeated = purpose === 'repeat' ? earlierValue(state, entry) : undefined
  const pair = repeated === undefined || scored === undefined ? [] : [[repeated, scored.value] as const]
  return {
    ...state,
    usedSeeds,
    jitter: [...state.jitter, ...pair],
    attempts: changeAttempt(state, entry.attempt, (attempt) => withScore(attempt, entry, ended)),
    spend: { ...spend, runs: spend.runs + 1, runS: spend.runS + wall_s, usd: addUsd(spend.usd, entry.cost_usd) },
    gauges: {
      ...gauges,
      killed: gauges.killed + (outcome.status === 'killed' ? 1 : 0),
      audited: gauges.audited + (watch?.condemned === true && scored !== undefined ? 1 : 0),
    },
  }
}

// In billionths, so that sums are exact in any order.
function addUsd(sum: number, more = 0): number {
  return more === 0 ? sum : Math.round((sum + more) * 1e9) / 1e9
}

function withScore(
  attempt: ResearchAttempt,
  { outcome, seed, split, purpose, wall_s }: ResearchEntryOf<'run.finished'>,
  ended: RecordedRunOf,
): ResearchAttempt {
  const measured = { ...attempt, runs: replaceRun(attempt, ended), wallS: attempt.wallS + wall_s }
  if (outcome.status !== 'scored' || purpose === 'repeat' || purpose === 'audit') return measured
  const { value, secondary, items } = outcome
  const score = { seed, value, secondary, items }
  return split === 'test'
    ? { ...measured, hidden: [...attempt.hidden, score] }
    : { ...measured, scores: [...attempt.scores.filter((each) => each.seed !== seed), score] }
}

function replaceRun(attempt: ResearchAttempt, run: RecordedRunOf): readonly RecordedRunOf[] {
  const isKnown = attempt.runs.some((each) => each.run === run.run)
  return isKnown ? attempt.runs.map((each) => (each.run === run.run ? run : each)) : [...attempt.runs, run]
}

function earlierValue(state: ResearchState, { attempt, seed }: { attempt: string; seed: number }): number | undefined {
  return state.attempts.find(({ id }) => id === attempt)?.scores.find((each) => each.seed === seed)?.value
}

/** Attempts with one of them changed. */
export function changeAttempt(
  { attempts }: ResearchState,
  id: string,
  change: (attempt: ResearchAttempt) => ResearchAttempt,
): readonly ResearchAttempt[] {
  return attempts.map((attempt) => (attempt.id === id ? change(attempt) : attempt))
}
