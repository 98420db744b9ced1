// One piece of work each: checks, calls to the proposer, runs. A failure is part of the entries that it returns; cancelled work returns none
// and is done again later.
import type { Brief, CallUsage, Metrics, ResearchState, RunOutcome, Usage } from '../../contracts/index.ts'
import { EvsysError, messageOf } from '../../kernel/index.ts'
import { releasedGain } from '../keep/test-evaluation.ts'
import { usageOfError } from '../propose/ledger/proposal-usage.ts'
import { requestOf } from './decide-call.ts'
import type { OpenSession } from './open-session.ts'
import type { ResearchOptions } from './research-options.ts'
import { callRoom } from './session-budget.ts'
import type { NewEntry } from './session-journal.ts'
import { attemptOf, filesOf, noiseOf, PEAK_MEMORY, searchState, testEvaluationsOf } from './session-views.ts'
import type { AskStep, RunStep } from './step.ts'
import { createCurveWatcher } from './watch-curve.ts'

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
    if (outcome.status === 'killed') {
      const killed = { status: 'killed' as const, ...watcher.ended() }
      return [{ ...finished, outcome: killed, ...taken, ...curve }]
    }
    const { value, claimed, level, memoryBy: memory_by, accelerator, items, reusedFrom: reused_from } = outcome
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
      reused_from,
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
