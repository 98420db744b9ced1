// One piece of work each: checks, calls to the proposer, runs. A failure is part of the entries that it returns; cancelled work returns none
// and is done again later.
import type {
  Brief,
  CallUsage,
  CurveSample,
  Metrics,
  ResearchEntryOf,
  ResearchState,
  RunOutcome,
  Usage,
} from '../../contracts/index.ts'
import { EvsysError, messageOf } from '../../kernel/index.ts'
import { curveGaps, decideCurve } from '../keep/curve-watcher.ts'
import { pairGains } from '../keep/measure-gain.ts'
import { releasedGain } from '../keep/test-evaluation.ts'
import { usageOfError } from '../propose/ledger/proposal-usage.ts'
import { requestOf } from './decide-call.ts'
import type { OpenSession } from './open-session.ts'
import type { ResearchOptions } from './research-options.ts'
import { callRoom } from './session-budget.ts'
import type { NewEntry } from './session-journal.ts'
import {
  attemptOf,
  filesOf,
  noiseOf,
  PEAK_MEMORY,
  searchState,
  testEvaluationsOf,
  watchedRuns,
} from './session-views.ts'
import type { AskStep, RunStep } from './step.ts'

type Entries = Promise<readonly NewEntry[]>

export async function performCheck(
  { journal }: OpenSession,
  { executor }: ResearchOptions,
  id: string,
  signal: AbortSignal,
): Entries {
  try {
    let dry_run_memory_bytes: number | undefined
    const failures = await executor.check(filesOf(journal.state, id), signal, (estimate) => {
      dry_run_memory_bytes = estimate.peakMemoryBytes
    })
    return [{ type: 'attempt.checked', attempt: id, failures: [...failures], dry_run_memory_bytes }]
  } catch (error) {
    if (signal.aborted) return []
    return [{ type: 'attempt.checked', attempt: id, failures: [{ class: 'infra', reason: messageOf(error) }] }]
  }
}

export async function performAsk(
  session: OpenSession,
  options: ResearchOptions,
  { intent }: AskStep,
  signal: AbortSignal,
): Entries {
  const state = session.journal.asked(intent.call) // one that is sent again asks the same
  const call = state.calls.find((each) => each.call === intent.call)
  if (call === undefined) return []
  const request = requestOf(call)
  const attempt = intent.attempt === undefined ? undefined : attemptOf(state, intent.attempt)
  try {
    const material = await options.executor.trainings?.material(shownRuns(state))
    signal.throwIfAborted()
    const brief = options.writeBrief(searchState(state), request, {
      material,
      files: filesOf(state, request.parents[0] ?? state.incumbent ?? ''),
      sigma: noiseOf(state).sigma,
      confirmedGain: releasedGain(testEvaluationsOf(state)),
      costs: Object.fromEntries(
        state.attempts.map(({ id, runs, costUsd }) => [id, { runs: runs.length, usd: costUsd }]),
      ),
      backlog: state.backlog.flatMap(({ author, text, idea }) => (idea === undefined ? [`${author}: ${text}`] : [])),
      repair: attempt?.idea && { idea: attempt.idea, failures: attempt.failures },
    })
    const asked = { ...brief, call: intent.call, limit: limitOf(session.journal.state, intent) }
    const { ideas, usage } = await session.plugins.propose(asked, [intent.call], signal)
    return [{ type: 'call.answered', call: intent.call, ideas: [...ideas], usage: usageOf(usage) }]
  } catch (error) {
    if (signal.aborted) return []
    const reason = withFix(error)
    const usage = usageOf(usageOfError(error)) // an answer that cannot be used costs as much as one that can
    return [
      { type: 'call.failed', call: intent.call, reason, usage },
      { type: 'notice', text: `The proposer "${intent.proposer}" failed: ${reason}` },
    ]
  }
}

/** Attempts beside the incumbent whose curves are shown. */
const mostShown = 3

// Of the incumbent, the baseline and the last attempts: their first runs on validation.
function shownRuns(state: ResearchState): { attempt: string; run: string }[] {
  const last = state.attempts.toReversed().slice(0, mostShown)
  const ids = [...new Set([state.incumbent ?? '', state.baseline ?? '', ...last.map(({ id }) => id)])]
  return ids.flatMap((id) => {
    const runs = state.attempts.find((attempt) => attempt.id === id)?.runs ?? []
    const first = runs.find(({ split, status }) => split === 'val' && status === 'scored')
    return first === undefined ? [] : [{ attempt: id, run: first.run }]
  })
}

// All that the caps leave, besides what other calls that are open may take.
function limitOf(state: ResearchState, { forecast }: AskStep['intent']): NonNullable<Brief['limit']> {
  const { usd, tokens } = callRoom(state)
  return {
    usd: usd === undefined ? undefined : usd + forecast.usd,
    tokens: tokens === undefined ? undefined : tokens + forecast.tokens,
  }
}

// People read it in the terminal and in the report: what to do about it belongs to it.
function withFix(error: unknown): string {
  const fix = EvsysError.is(error) ? error.fix : undefined
  return fix === undefined ? messageOf(error) : `${messageOf(error)}; fix: ${fix}`
}

function usageOf(usage: Usage | undefined): CallUsage | undefined {
  if (usage === undefined) return undefined
  const { promptTokens, completionTokens, cachedPromptTokens, costUsd } = usage
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    cached_prompt_tokens: cachedPromptTokens,
    cost_usd: costUsd,
  }
}

export async function performRun(
  session: OpenSession,
  options: ResearchOptions,
  step: RunStep,
  signal: AbortSignal,
): Entries {
  const { state } = session.journal
  const { run, attempt, seed, split, purpose } = step
  const finished = { type: 'run.finished' as const, run, attempt, seed, split, purpose }
  const trainSeconds = state.settings?.train_seconds ?? options.executor.task.trainSeconds
  try {
    await using _cores = await options.leaseCores?.(signal)
    const watcher = createCurveWatcher(session, step, trainSeconds)
    const request = { files: filesOf(state, attempt), seed, split, trainSeconds, run, watch: watcher.watch }
    const outcome = await options.executor.run(request, signal)
    if (signal.aborted) return []
    const curve = watcher.recorded(outcome)
    const taken = { wall_s: outcome.wallS, peak_memory_bytes: outcome.peakMemoryBytes, cost_usd: costOf(outcome) }
    if (outcome.status === 'failed') {
      return [{ ...finished, outcome: { status: 'failed', failure: outcome.failure }, ...taken }]
    }
    if (outcome.status === 'killed') return [{ ...finished, outcome: { status: 'killed' }, ...taken, ...curve }]
    const { value, claimed, level, memoryBy: memory_by, accelerator, items } = outcome
    if (!Number.isFinite(value)) {
      const failure = { class: 'divergence' as const, reason: `its score is ${value}` }
      return [{ ...finished, outcome: { status: 'failed', failure }, ...taken }]
    }
    const secondary = { ...memoryOf(outcome, options), ...outcome.secondary }
    const scored = {
      status: 'scored' as const,
      value,
      secondary,
      items: items === 'fresh' || items === undefined ? items : [...items],
      level,
      memory_by,
      accelerator,
      claimed,
    }
    return [{ ...finished, outcome: scored, ...taken, ...curve }]
  } catch (error) {
    if (signal.aborted) return []
    const failure = { class: 'infra' as const, reason: messageOf(error) }
    return [{ ...finished, outcome: { status: 'failed', failure }, wall_s: 0 }]
  }
}

function costOf(outcome: RunOutcome): number | undefined {
  return 'costUsd' in outcome ? outcome.costUsd : undefined
}

// A task may guard the memory that its runs hold, which no scorer knows.
function memoryOf({ peakMemoryBytes }: RunOutcome, { executor }: ResearchOptions): Metrics {
  const isAsked = executor.task.secondary.some(({ metric }) => metric === PEAK_MEMORY)
  return isAsked && peakMemoryBytes !== undefined ? { [PEAK_MEMORY]: peakMemoryBytes / 1e9 } : {}
}

/** Points of a curve that the journal keeps. */
const MOST_POINTS = 64

/**
 * The training curve of a run in progress: kept, thinned, and in a race compared with the incumbent's of the same seed. A run that
 * falls too far behind is ended; one in ten of those continues as an audit and shows what ending the others costs. A curve is a loss:
 * less of it is better, whatever the score.
 */
function createCurveWatcher({ journal, plugins }: OpenSession, step: RunStep, trainSeconds: number) {
  const { state } = journal
  const { seed, purpose, split, attempt } = step
  const incumbent = attemptOf(state, state.incumbent ?? attempt)
  const other = incumbent.runs.find((run) => run.seed === seed && run.split === 'val' && run.curve !== undefined)?.curve
  const isRace = purpose === 'race' && split === 'val' && plugins.keepRule.incumbent !== 'kept'
  const history = isRace ? watchedRuns(state) : []
  const { family } = attemptOf(state, attempt)
  const seen: CurveSample[] = []
  let gaps: readonly (number | null)[] = []
  let condemned = false
  return {
    watch(sample: CurveSample): 'continue' | 'kill' {
      if (!Number.isFinite(sample.value) || !Number.isFinite(sample.seconds)) return 'continue' // the scorer reports divergence
      seen.push({ seconds: sample.seconds, value: sample.value })
      if (!isRace || other === undefined) return 'continue'
      gaps = curveGaps({ direction: 'min', candidate: seen, incumbent: other, trainSeconds })
      if (condemned) return 'continue' // it is an audit
      const decision = decideCurve({ gaps, family }, history, state.settings?.seed ?? 0)
      condemned = decision !== 'continue'
      return decision === 'kill' ? 'kill' : 'continue'
    },
    /** What the journal keeps of it. */
    recorded(outcome: RunOutcome): Pick<ResearchEntryOf<'run.finished'>, 'curve' | 'watch'> {
      const curve = seen.length === 0 ? undefined : thinned(seen)
      if (!isRace || gaps.length === 0) return { curve }
      const value = outcome.status === 'scored' ? outcome.value : null
      const [gain] = pairGains(state.settings?.direction ?? 'min', [{ seed, value }], incumbent.scores)
      const loss = gain === undefined ? undefined : -gain / noiseOf(state).sigma
      return { curve, watch: { gaps: [...gaps], condemned, loss } }
    },
  }
}

function thinned(curve: readonly CurveSample[]): CurveSample[] {
  const every = Math.ceil(curve.length / MOST_POINTS)
  return curve.filter((_, i) => (curve.length - 1 - i) % every === 0)
}
