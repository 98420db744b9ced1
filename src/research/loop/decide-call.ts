// Questions to the proposer: when one is asked, and what becomes of the answer.
import type { Idea, ResearchAttempt, ResearchCall, SearchRequest } from '../../contracts/index.ts'
import { changesBetween, filesOf, lineCount } from './candidate-files.ts'
import { chooseIdeas } from './choose-ideas.ts'
import { searchState } from './search-state.ts'
import { forecastOf } from './session-budget.ts'
import type { NewEntry } from './session-journal.ts'
import type { AskStep, Deciding, Step } from './step.ts'

/** A new question. */
export function decideAsk({ state, plugins, busy }: Deciding): Step | undefined {
  const cap = state.settings?.budget.experiments
  const asked = state.calls.filter(({ purpose, used }) => purpose === 'propose' && !used).length
  if (cap !== undefined && state.spend.experiments + asked >= cap) return undefined
  if (asked > 0 && busy.size === 0) return undefined
  const number = state.calls.length + 1
  const request = plugins.next(searchState(state), [number])
  return {
    kind: 'ask',
    intent: {
      type: 'call.intended',
      call: `c${number}`,
      sending: 1,
      worker: 0,
      purpose: 'propose',
      proposer: plugins.proposer.kind,
      parents: [...request.parents],
      mode: request.mode,
      ideas: request.ideas,
      avoid_families: [...request.avoidFamilies],
      forecast: forecastOf(state, plugins.asksModel).call,
    },
  }
}

/** A question about a candidate that may not run. */
export function repairCall({ state, plugins }: Deciding, attempt: ResearchAttempt): AskStep {
  return {
    kind: 'ask',
    intent: {
      type: 'call.intended',
      call: `c${state.calls.length + 1}`,
      sending: 1,
      worker: 0,
      purpose: 'repair',
      proposer: plugins.proposer.kind,
      parents: attempt.parents,
      mode: attempt.mode,
      ideas: 1,
      avoid_families: [],
      attempt: attempt.id,
      forecast: forecastOf(state, plugins.asksModel).call,
    },
  }
}

/** An answer that nobody has read yet. */
export function decideAnswer(deciding: Deciding): Step | undefined {
  const { state } = deciding
  const answered = state.calls.find(({ status, used }) => status === 'answered' && !used)
  if (answered === undefined) return undefined
  const entries =
    answered.purpose === 'repair'
      ? repaired(deciding, answered)
      : chooseIdeas(deciding, {
          ideas: answered.ideas,
          request: requestOf(answered),
          call: answered.call,
          origin: 'proposer',
        })
  return { kind: 'write', entries }
}

export function requestOf({ intent }: ResearchCall): SearchRequest {
  const { parents, mode, ideas, avoid_families } = intent
  return { parents, mode, ideas, avoidFamilies: avoid_families }
}

/** An idea of a person that needs no proposer. */
export function decideReadyIdea(deciding: Deciding): Step | undefined {
  const { state } = deciding
  const ready = state.backlog.find(({ idea }) => idea !== undefined)
  if (ready?.idea === undefined) return undefined
  const parents = [state.pinned ?? state.incumbent ?? '']
  const request: SearchRequest = { parents, mode: 'improve', ideas: 1, avoidFamilies: [] }
  return { kind: 'write', entries: chooseIdeas(deciding, { ideas: [ready.idea], request, origin: 'author' }) }
}

function repaired({ state, tools }: Deciding, { call, ideas, intent }: ResearchCall): NewEntry[] {
  const attempt = state.attempts.find(({ id }) => id === intent.attempt)
  const [idea] = ideas
  if (attempt === undefined || attempt.verdict !== undefined) return [rejected(call, idea, 'its attempt has ended')]
  if (idea === undefined) return [rejected(call, idea, 'the proposer has no repair'), giveUp(attempt)]
  const base = filesOf(state, attempt.parents[0] ?? state.baseline ?? '')
  const made = tools.materialise(idea, base, state.settings?.space ?? {})
  const turn = attempt.repairs + 1
  if ('failures' in made) {
    const same = { knobs: attempt.knobs, fingerprint: attempt.fingerprint, lines: attempt.lines, files: attempt.files }
    return [
      { type: 'attempt.repaired', attempt: attempt.id, turn, call, idea, ...same },
      { type: 'attempt.checked', attempt: attempt.id, failures: [...made.failures] },
    ]
  }
  const { files, knobs } = made
  const told = { knobs, fingerprint: tools.fingerprint(files, knobs), lines: lineCount(files) }
  return [
    { type: 'attempt.repaired', attempt: attempt.id, turn, call, idea, ...told, files: changesBetween(base, files) },
  ]
}

function rejected(call: string, idea: Idea | undefined, reason: string): NewEntry {
  const ideas = idea === undefined ? [] : [{ title: idea.title, family: idea.family, reason }]
  return { type: 'ideas.rejected', call, ideas }
}

function giveUp({ id, failures }: ResearchAttempt): NewEntry {
  const [failure] = failures
  return {
    type: 'verdict',
    attempt: id,
    verdict: 'failed',
    reason: failure === undefined ? 'it may not run' : `Failed (${failure.class}): ${failure.reason}`,
    ...(failure === undefined ? {} : { failure }),
  }
}
