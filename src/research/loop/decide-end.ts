// The end of a session: changes that help nothing are taken out, what is left is held against the baseline on the hidden split once
// more, and the last word is written.
import type { EndReason, ResearchState } from '../../contracts/index.ts'
import { attemptOf } from './candidate-files.ts'
import { decideAblation } from './decide-ablation.ts'
import { decideDueLook } from './decide-look.ts'
import type { Deciding, Step } from './step.ts'

export function decideEnd(deciding: Deciding, reason: EndReason): Step {
  if (reason === 'failed') return ended(deciding.state, reason)
  return decideAblation(deciding) ?? decideDueLook(deciding, true) ?? ended(deciding.state, reason)
}

function ended(state: ResearchState, reason: EndReason): Step {
  return { kind: 'write', entries: [{ type: 'session.ended', reason, text: endText(state, reason) }] }
}

const REASONS: Readonly<Record<EndReason, string>> = {
  experiments: 'All experiments of the budget were made.',
  wall: 'The time of the budget is used up.',
  tokens: 'The tokens of the budget are used up.',
  usd: 'The money of the budget is used up.',
  finished: 'The proposer has nothing new.',
  failed: 'The proposer fails again and again.',
}

function endText(state: ResearchState, reason: EndReason): string {
  const champion = state.incumbent === undefined ? undefined : attemptOf(state, state.incumbent)
  const failed = state.calls.length === 0 || reason !== 'failed' ? '' : ` ${sentence(state.notices.at(-1) ?? '')}`
  if (champion === undefined || champion.id === state.baseline)
    return `${REASONS[reason]}${failed} Nothing was kept: the baseline stands.`
  const told = champion.confirmation?.reason ?? champion.reason ?? ''
  return `${REASONS[reason]}${failed} Best: ${champion.id} (${champion.title}). ${told}`.trim()
}

function sentence(text: string): string {
  return text === '' || /[.!?]$/.test(text) ? text : `${text}.`
}
