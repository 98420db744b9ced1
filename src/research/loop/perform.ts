// One piece of work each. What goes wrong is part of what it brings; being stopped brings nothing, and the work is done again later.
import type {
  Brief,
  CallUsage,
  MemoryEstimate,
  Metrics,
  ResearchState,
  RunOutcome,
  Usage,
} from '../../contracts/index.ts'
import { EvsysError, messageOf } from '../../kernel/index.ts'
import { releasedGain } from '../judge/index.ts'
import { usageOfError } from '../propose/index.ts'
import { attemptOf, filesOf } from './candidate-files.ts'
import { createCurveWatcher } from './curve-watch.ts'
import { requestOf } from './decide-call.ts'
import { PEAK_MEMORY } from './extra-metrics.ts'
import type { OpenSession } from './open-session.ts'
import { lookRecords, noiseOf } from './race-state.ts'
import type { ResearchOptions } from './research-options.ts'
import { searchState } from './search-state.ts'
import { callRoom } from './session-budget.ts'
import type { NewEntry } from './session-journal.ts'
import type { AskStep, RunStep } from './step.ts'

type Brought = Promise<readonly NewEntry[]>

export async function performCheck(
  session: OpenSession,
  options: ResearchOptions,
  id: string,
  signal: AbortSignal,
): Brought {
  const { state } = session.journal
  try {
    let estimate: MemoryEstimate | undefined
    const failures = await options.executor.check(filesOf(state, id), signal, (told) => {
      estimate = told
    })
    const bytes = estimate?.peakMemoryBytes
    return [
      {
        type: 'attempt.checked',
        attempt: id,
        failures: [...failures],
        ...(bytes === undefined ? {} : { dry_run_memory_bytes: bytes }),
      },
    ]
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
): Brought {
  const state = session.journal.asked(intent.call) // one that is sent again asks the same
  const call = state.calls.find((each) => each.call === intent.call)
  if (call === undefined) return []
  const request = requestOf(call)
  const attempt = intent.attempt === undefined ? undefined : attemptOf(state, intent.attempt)
  const repair = attempt?.idea === undefined ? {} : { repair: { idea: attempt.idea, failures: attempt.failures } }
  const confirmedGain = releasedGain(lookRecords(state))
  try {
    const brief = options.writeBrief(searchState(state), request, {
      files: filesOf(state, request.parents[0] ?? state.incumbent ?? ''),
      sigma: noiseOf(state).sigma,
      ...(confirmedGain === undefined ? {} : { confirmedGain }),
      costs: Object.fromEntries(
        state.attempts.map(({ id, runs, costUsd }) => [id, { runs: runs.length, usd: costUsd }]),
      ),
      backlog: state.backlog.flatMap(({ author, text, idea }) => (idea === undefined ? [`${author}: ${text}`] : [])),
      ...repair,
    })
    const proposal = await session.plugins.propose(
      { ...brief, call: intent.call, limit: limitOf(session.journal.state, intent) },
      [intent.call],
      signal,
    )
    const usage = usageOf(proposal.usage)
    return [
      {
        type: 'call.answered',
        call: intent.call,
        ideas: [...proposal.ideas],
        ...(usage === undefined ? {} : { usage }),
      },
    ]
  } catch (error) {
    if (signal.aborted) return []
    const reason = toldBy(error)
    const usage = usageOf(usageOfError(error)) // an answer that cannot be used costs as much as one that can
    return [
      { type: 'call.failed', call: intent.call, reason, ...(usage === undefined ? {} : { usage }) },
      { type: 'notice', text: `The proposer "${intent.proposer}" failed: ${reason}` },
    ]
  }
}

// All that the caps leave, besides what other calls that are open may take.
function limitOf(state: ResearchState, { forecast }: AskStep['intent']): NonNullable<Brief['limit']> {
  const { usd, tokens } = callRoom(state)
  return {
    ...(usd === undefined ? {} : { usd: usd + forecast.usd }),
    ...(tokens === undefined ? {} : { tokens: tokens + forecast.tokens }),
  }
}

// People read it in the terminal and in the report: what to do about it belongs to it.
function toldBy(error: unknown): string {
  const fix = EvsysError.is(error) ? error.fix : undefined
  return fix === undefined ? messageOf(error) : `${messageOf(error)}; fix: ${fix}`
}

function usageOf(usage: Usage | undefined): CallUsage | undefined {
  if (usage === undefined) return undefined
  const { promptTokens, completionTokens, cachedPromptTokens, costUsd } = usage
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    ...(cachedPromptTokens === undefined ? {} : { cached_prompt_tokens: cachedPromptTokens }),
    ...(costUsd === undefined ? {} : { cost_usd: costUsd }),
  }
}

export async function performRun(
  session: OpenSession,
  options: ResearchOptions,
  step: RunStep,
  signal: AbortSignal,
): Brought {
  const { state } = session.journal
  const { run, attempt, seed, split, purpose } = step
  const told = { type: 'run.finished' as const, run, attempt, seed, split, purpose }
  const trainSeconds = state.settings?.train_seconds ?? options.executor.task.trainSeconds
  try {
    await using _cores = await options.leaseCores?.(signal)
    const watcher = createCurveWatcher(session, step, trainSeconds)
    const request = { files: filesOf(state, attempt), seed, split, trainSeconds, watch: watcher.watch }
    const outcome = await options.executor.run(request, signal)
    if (signal.aborted) return []
    const curve = watcher.told(outcome)
    if (outcome.status === 'failed') {
      return [{ ...told, outcome: { status: 'failed', failure: outcome.failure }, ...takenBy(outcome) }]
    }
    if (outcome.status === 'killed') {
      return [{ ...told, outcome: { status: 'killed' }, ...takenBy(outcome), ...curve }]
    }
    const { value, secondary, claimed, level, accelerator } = outcome
    if (!Number.isFinite(value)) {
      const failure = { class: 'divergence' as const, reason: `its score is ${value}` }
      return [{ ...told, outcome: { status: 'failed', failure }, ...takenBy(outcome) }]
    }
    const scored = {
      ...{ status: 'scored' as const, value, secondary: { ...memoryOf(outcome, options), ...secondary }, level },
      ...(accelerator === undefined ? {} : { accelerator }),
      ...(claimed === undefined ? {} : { claimed }),
    }
    return [{ ...told, outcome: scored, ...takenBy(outcome), ...curve }]
  } catch (error) {
    if (signal.aborted) return []
    const failure = { class: 'infra' as const, reason: messageOf(error) }
    return [{ ...told, outcome: { status: 'failed', failure }, wall_s: 0 }]
  }
}

function takenBy({ wallS, peakMemoryBytes }: RunOutcome) {
  return { wall_s: wallS, ...(peakMemoryBytes === undefined ? {} : { peak_memory_bytes: peakMemoryBytes }) }
}

// A task may guard the memory that its runs hold; no scorer could tell.
function memoryOf({ peakMemoryBytes }: RunOutcome, { executor }: ResearchOptions): Metrics {
  const isAsked = executor.task.secondary.some(({ metric }) => metric === PEAK_MEMORY)
  return isAsked && peakMemoryBytes !== undefined ? { [PEAK_MEMORY]: peakMemoryBytes / 1e9 } : {}
}
