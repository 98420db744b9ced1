// Questions to proposers in the fold of a session: what they cost, and which of them were sent in vain.
import type { ResearchEntryOf } from './journal.ts'
import type { ResearchCall, ResearchState } from './session-state.ts'

type CallEntry = ResearchEntryOf<'call.intended' | 'call.lost' | 'call.answered' | 'call.failed'>

export function reduceCall(state: ResearchState, entry: CallEntry): ResearchState {
  if (entry.type === 'call.intended') return intend(state, entry)
  const known = state.calls.find(({ call }) => call === entry.call)
  if (known === undefined) return state
  if (entry.type === 'call.lost') {
    const { usd, tokens } = entry.charged
    const { spend } = state
    return {
      ...replaced(state, { ...known, lost: known.lost + 1, tokens: known.tokens + tokens }),
      spend: {
        ...spend,
        lostCalls: spend.lostCalls + 1,
        tokens: spend.tokens + tokens,
        usd: addUsd(spend.usd, usd),
        assumedUsd: addUsd(spend.assumedUsd, usd),
      },
    }
  }
  return settle(state, known, entry)
}

function intend(state: ResearchState, entry: ResearchEntryOf<'call.intended'>): ResearchState {
  const spend = { ...state.spend, calls: state.spend.calls + 1 }
  const known = state.calls.find(({ call }) => call === entry.call)
  if (known !== undefined) return { ...replaced(state, { ...known, sendings: entry.sending, intent: entry }), spend }
  const { call, worker, purpose, proposer } = entry
  const opened: ResearchCall = {
    call,
    worker,
    purpose,
    proposer,
    status: 'open',
    sendings: entry.sending,
    lost: 0,
    intent: entry,
    ideas: [],
    used: false,
    tokens: 0,
  }
  return { ...state, calls: [...state.calls, opened], spend }
}

function settle(
  state: ResearchState,
  known: ResearchCall,
  entry: ResearchEntryOf<'call.answered' | 'call.failed'>,
): ResearchState {
  const { usage } = entry
  const tokens = usage === undefined ? 0 : usage.prompt_tokens + usage.completion_tokens
  // A model that was asked and whose price is unknown is charged what was forecast.
  const assumedUsd = usage !== undefined && usage.cost_usd === undefined ? known.intent.forecast.usd : 0
  const usd = usage?.cost_usd ?? assumedUsd
  const call: ResearchCall = {
    ...known,
    status: entry.type === 'call.answered' ? 'answered' : 'failed',
    ideas: entry.type === 'call.answered' ? entry.ideas : [],
    used: entry.type === 'call.failed' ? true : known.used,
    tokens: known.tokens + tokens,
    ...(usage === undefined ? {} : { costUsd: usd }),
  }
  const { spend } = state
  return {
    ...replaced(state, call),
    spend: {
      ...spend,
      tokens: spend.tokens + tokens,
      usd: addUsd(spend.usd, usd),
      assumedUsd: addUsd(spend.assumedUsd, assumedUsd),
    },
  }
}

function replaced(state: ResearchState, call: ResearchCall): ResearchState {
  return { ...state, calls: state.calls.map((each) => (each.call === call.call ? call : each)) }
}

// In whole billionths: a sum of prices is right to the last digit, in any order.
function addUsd(a: number, b: number): number {
  return (Math.round(a * 1e9) + Math.round(b * 1e9)) / 1e9
}
