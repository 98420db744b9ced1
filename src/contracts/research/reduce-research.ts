// The state of a research session as a pure fold over its journal, shared by controller, terminal, report and dashboard.
import { changeAttempt } from './change-attempt.ts'
import type { ResearchEntry, ResearchEntryOf } from './journal.ts'
import { reduceAttempt, withoutFirstReady, withRun } from './reduce-attempt.ts'
import { reduceBegun } from './reduce-begun.ts'
import { reduceCall } from './reduce-call.ts'
import { reduceSteering } from './reduce-steering.ts'
import type { ResearchState } from './session-state.ts'

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
    calls: state.calls.map((each) => (each.call === call ? { ...each, used: true } : each)),
  }
}

// The reason of the race stays: that of the confirmation tells of the hidden split.
function confirm({ look: _look, ...state }: ResearchState, entry: ResearchEntryOf<'confirmation'>): ResearchState {
  return {
    ...state,
    confirmations: [...state.confirmations, entry],
    attempts: changeAttempt(state, entry.attempt, (attempt) => ({
      ...attempt,
      confirmation: entry,
      ...(entry.confirmed ? { verdict: 'confirmed' as const } : {}),
    })),
  }
}
