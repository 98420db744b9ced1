// The state of a research session as a pure fold over its journal, shared by controller, terminal, report and dashboard.
import { changeAttempt, reduceAttempt, withoutFirstReady, withRun, withUsed } from './reduce-attempt.ts'
import type { ResearchEntry, ResearchEntryOf } from './research-journal.ts'
import type { BegunWork, ResearchCall, ResearchState } from './research-state.ts'

/** The state after an entry. */
export function reduceResearch(state: ResearchState, entry: ResearchEntry): ResearchState {
  const reduced = reduceEntry(withTime(state, entry), entry)
  const begun = reduceBegun(state.begun, entry)
  return begun === state.begun ? reduced : { ...reduced, begun }
}

function reduceEntry(state: ResearchState, entry: ResearchEntry): ResearchState {
  switch (entry.type) {
    case 'session.begun':
      return {
        ...state,
        status: 'running',
        settings: entry.settings,
        files: entry.files,
        bank: entry.settings.seeds,
        usedSeeds: entry.settings.seeds,
        startedAt: entry.at,
      }
    case 'session.resumed':
      return resume(state, entry)
    case 'session.interrupted':
      return { ...state, status: 'interrupted' }
    case 'session.ended':
      return { ...state, status: 'ended', end: { reason: entry.reason, text: entry.text } }
    case 'call.intended':
    case 'call.lost':
    case 'call.answered':
    case 'call.failed':
      return reduceCall(state, entry)
    case 'ideas.rejected':
      return rejectIdeas(state, entry)
    case 'attempt.begun':
    case 'attempt.checked':
    case 'attempt.repaired':
    case 'verdict':
      return reduceAttempt(state, entry)
    case 'check.intended':
      return state
    case 'run.intended':
    case 'run.finished':
      return withRun(state, entry)
    case 'kept':
      return {
        ...state,
        incumbent: entry.attempt,
        kept: [...state.kept, entry.attempt],
        gauges: { ...state.gauges, keeps: state.gauges.keeps + 1, sinceKeep: 0 },
      }
    case 'incumbent.refreshed':
      return {
        ...state,
        bank: entry.bank,
        usedSeeds: [...new Set([...state.usedSeeds, ...entry.bank])],
        drifted: false,
      }
    case 'control.finished':
      return { ...state, controls: [...state.controls, entry], drifted: state.drifted || entry.drifted }
    case 'look.planned': {
      const { type: _type, at: _at, ...look } = entry
      const usedSeeds = [...new Set([...state.usedSeeds, ...look.decide, ...look.report])]
      return { ...state, look, usedSeeds, looks: look.number, lookRequested: false }
    }
    case 'confirmation':
      return confirm(state, entry)
    case 'ablation':
      return {
        ...state,
        ablations: [...state.ablations, entry],
        attempts: changeAttempt(state, entry.attempt, (attempt) => ({ ...attempt, ablation: entry })),
      }
    case 'steered':
      return reduceSteering(state, entry)
    case 'notice':
      return { ...state, notices: [...state.notices, entry.text] }
  }
}

function resume({ end: _end, ...open }: ResearchState, { budget }: ResearchEntryOf<'session.resumed'>): ResearchState {
  const forgivenCalls = open.status === 'ended' ? open.calls.length : open.forgivenCalls
  const running: ResearchState = { ...open, status: 'running', paused: false, forgivenCalls }
  if (budget === undefined || open.settings === undefined) return running
  return { ...running, settings: { ...open.settings, budget } }
}

// Time counts while a controller works: from the entry before, unless a person wrote this one, a controller just began, or the
// session is paused.
function withTime(state: ResearchState, entry: ResearchEntry): ResearchState {
  if (entry.type === 'steered') return withPause(state, entry)
  const isBeginning = entry.type === 'session.begun' || entry.type === 'session.resumed' || state.lastAt === undefined
  return isBeginning || state.paused ? { ...state, lastAt: entry.at } : upTo(state, entry.at)
}

function withPause(state: ResearchState, { at, steering }: ResearchEntryOf<'steered'>): ResearchState {
  if (state.status !== 'running') return state
  if (steering.action === 'pause' && !state.paused) return upTo(state, at)
  return steering.action === 'resume' && state.paused ? { ...state, lastAt: at } : state
}

function upTo(state: ResearchState, at: string): ResearchState {
  const passedS = Math.max(0, (Date.parse(at) - Date.parse(state.lastAt ?? at)) / 1000)
  return { ...state, lastAt: at, spend: { ...state.spend, wallS: state.spend.wallS + passedS } }
}

// Ideas of no call are those of a person.
function rejectIdeas(state: ResearchState, { call, ideas }: ResearchEntryOf<'ideas.rejected'>): ResearchState {
  const duplicates = ideas.filter(({ duplicate_of }) => duplicate_of !== undefined).length
  return {
    ...state,
    turnedDown: [...state.turnedDown, ...ideas],
    backlog: call === undefined ? withoutFirstReady(state.backlog) : state.backlog,
    gauges: {
      ...state.gauges,
      duplicates: state.gauges.duplicates + duplicates,
      turnedDown: state.gauges.turnedDown + ideas.length,
    },
    calls: withUsed(state, call),
  }
}

// The reason of the race stays: that of the confirmation is about the hidden split.
function confirm({ look: _look, ...state }: ResearchState, entry: ResearchEntryOf<'confirmation'>): ResearchState {
  return {
    ...state,
    confirmations: [...state.confirmations, entry],
    attempts: changeAttempt(state, entry.attempt, (attempt) => ({
      ...attempt,
      confirmation: entry,
      verdict: entry.confirmed ? 'confirmed' : attempt.verdict,
    })),
  }
}

// Questions to proposers in the fold of a session: what they cost, and which of them were sent in vain.
type CallEntry = ResearchEntryOf<'call.intended' | 'call.lost' | 'call.answered' | 'call.failed'>

function reduceCall(state: ResearchState, entry: CallEntry): ResearchState {
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
    costUsd: usage === undefined ? known.costUsd : usd,
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

// What people say to a session, in its fold. It changes what the controller decides next; verdicts that they overrule are entries
// too, written by the controller.
function reduceSteering(state: ResearchState, entry: ResearchEntryOf<'steered'>): ResearchState {
  const { author, steering } = entry
  const steered = { ...state, steered: [...state.steered, entry], forgivenCalls: state.calls.length }
  switch (steering.action) {
    case 'add_idea': {
      const { text, idea } = steering
      return { ...steered, backlog: [...state.backlog, { author, text, idea }] }
    }
    case 'ban_family':
      return { ...steered, banned: [...new Set([...state.banned, steering.family])] }
    case 'allow_family':
      return { ...steered, banned: state.banned.filter((family) => family !== steering.family) }
    case 'pin':
      return { ...steered, pinned: steering.attempt }
    case 'unpin':
      return withoutPin(steered)
    case 'veto':
      return {
        ...(state.pinned === steering.attempt ? withoutPin(steered) : steered),
        unanswered: awaited(state, entry),
        attempts: changeAttempt(state, steering.attempt, (attempt) => ({ ...attempt, vetoed: author })),
      }
    case 'override':
      return {
        ...steered,
        unanswered: awaited(state, entry),
        // Who keeps it takes an earlier veto back.
        attempts: changeAttempt(state, steering.attempt, (attempt) => {
          const { vetoed: _vetoed, ...free } = attempt
          return steering.verdict === 'keep' ? free : attempt
        }),
      }
    case 'confirm':
      return { ...steered, lookRequested: true }
    case 'pause':
      return { ...steered, paused: true }
    case 'resume':
      return { ...steered, paused: false }
  }
}

function withoutPin({ pinned: _pinned, ...free }: ResearchState): ResearchState {
  return free
}

// Answered by the controller with a verdict. What names no attempt can have no answer.
function awaited(
  { attempts, unanswered }: ResearchState,
  entry: ResearchEntryOf<'steered'>,
): ResearchState['unanswered'] {
  const { steering } = entry
  const isKnown = 'attempt' in steering && attempts.some(({ id }) => id === steering.attempt)
  return isKnown ? [...unanswered, entry] : unanswered
}

// Which work is in progress, in the fold of a session. What is begun again after a crash keeps its place.
function reduceBegun(begun: readonly BegunWork[], entry: ResearchEntry): readonly BegunWork[] {
  switch (entry.type) {
    case 'call.intended':
      return withWork(begun, { kind: 'call', call: entry.call })
    case 'check.intended':
      return withWork(begun, { kind: 'check', attempt: entry.attempt })
    case 'run.intended':
      return withWork(begun, { kind: 'run', run: entry.run, attempt: entry.attempt })
    case 'call.answered':
    case 'call.failed':
      return without(begun, `call:${entry.call}`)
    case 'attempt.checked':
      return without(begun, `check:${entry.attempt}`)
    case 'run.finished':
      return without(begun, `run:${entry.run}`)
    default:
      return begun
  }
}

function withWork(begun: readonly BegunWork[], work: BegunWork): readonly BegunWork[] {
  return begun.some((each) => keyOf(each) === keyOf(work)) ? begun : [...begun, work]
}

function without(begun: readonly BegunWork[], key: string): readonly BegunWork[] {
  const left = begun.filter((each) => keyOf(each) !== key)
  return left.length === begun.length ? begun : left
}

function keyOf(work: BegunWork): string {
  if (work.kind === 'call') return `call:${work.call}`
  return work.kind === 'run' ? `run:${work.run}` : `check:${work.attempt}`
}
