// Races, noise and looks as the judge wants them, from the state of a session.
import type {
  PlannedLook,
  Race,
  ResearchAttempt,
  ResearchEntryOf,
  ResearchState,
  SeedScore,
} from '../../contracts/index.ts'
import {
  type LookRecord,
  measureGain,
  pairGains,
  type SeedResult,
  type SessionNoise,
  sessionNoise,
  startingTypicalGain,
} from '../judge/index.ts'
import { attemptOf } from './candidate-files.ts'

export function noiseOf(state: ResearchState): SessionNoise {
  const baseline = state.attempts.find(({ id }) => id === state.baseline)
  const first = (baseline?.runs ?? []).flatMap(({ purpose, seed, value }) =>
    purpose === 'noise' && value !== undefined ? [{ seed, value }] : [],
  )
  const races = state.attempts.map(({ pairs }) => pairs)
  const replaced = state.kept.slice(1, -1).flatMap((id) => state.attempts.filter((attempt) => attempt.id === id))
  return sessionNoise(
    first,
    races,
    state.jitter,
    replaced.map(({ scores }) => scores),
  )
}

export function typicalGainOf(state: ResearchState): number {
  return state.typicalGain ?? startingTypicalGain
}

/** The race of an attempt against the incumbent of now. */
export function raceOf(state: ResearchState, attempt: ResearchAttempt, incumbent: ResearchAttempt): Race {
  const { sigma, degreesOfFreedom, seedSd, shared } = noiseOf(state)
  const settings = state.settings
  return {
    direction: settings?.direction ?? 'min',
    candidate: attempt.scores,
    incumbent: inBankOrder(stillCompared(state, attempt, incumbent), state.bank),
    noise: { sigma, degreesOfFreedom, seedSd, shared },
    tried: state.attempts.flatMap(({ number, mode, gain }) =>
      number === 0 || mode === 'ablate' || gain === undefined ? [] : [gain],
    ),
    typicalGain: typicalGainOf(state),
    linesAdded: attempt.lines - incumbent.lines,
    secondary: settings?.secondary ?? [],
  }
}

/** The gain of an attempt over the incumbent of now, with its noise. */
export function gainOf(state: ResearchState, attempt: ResearchAttempt, incumbent: ResearchAttempt) {
  return measureGain(raceOf(state, attempt, incumbent))
}

/** Gains of an attempt over another, seed by seed. */
export function gainsOver(state: ResearchState, attempt: ResearchAttempt, other: ResearchAttempt): number[] {
  return pairGains(state.settings?.direction ?? 'min', attempt.scores, other.scores)
}

// Seeds that left the bank are compared with no more, as what was measured before drift; those of the race itself stay.
function stillCompared({ bank }: ResearchState, attempt: ResearchAttempt, incumbent: ResearchAttempt): SeedScore[] {
  const raced = new Set(attempt.scores.map(({ seed }) => seed))
  return incumbent.scores.filter(({ seed }) => bank.includes(seed) || raced.has(seed))
}

// Rules that look at the first seeds alone mean those that races begin with.
function inBankOrder(scores: readonly SeedScore[], bank: readonly number[]): SeedScore[] {
  const place = (seed: number) => (bank.includes(seed) ? bank.indexOf(seed) : bank.length)
  return scores.toSorted((a, b) => place(a.seed) - place(b.seed))
}

/** What the looks of a session concluded, as the judge wrote it. */
export function lookRecords({ confirmations }: ResearchState): LookRecord[] {
  return confirmations.map(({ look, occasion, attempt, keeps, level, p, confirmed, reported, reason }) => ({
    number: look,
    reason: occasion,
    champion: attempt,
    keeps,
    level,
    p,
    confirmed,
    words: reason,
    ...(reported === undefined ? {} : { reported: reportedGain(reported) }),
  }))
}

function reportedGain({
  gain,
  n,
  interval,
  probability_better,
}: NonNullable<ResearchEntryOf<'confirmation'>['reported']>) {
  return {
    gain,
    n,
    ...(interval === undefined ? {} : { interval }),
    ...(probability_better === undefined ? {} : { probabilityBetter: probability_better }),
  }
}

/** Scores on the hidden split of one side of a look; null where a run failed. */
export function lookResults(state: ResearchState, look: PlannedLook, attempt: string): SeedResult[] {
  const seeds = new Set([...look.decide, ...look.report])
  return attemptOf(state, attempt).runs.flatMap(({ purpose, seed, status, value }) =>
    purpose === 'confirm' && seeds.has(seed) && status !== 'running' ? [{ seed, value: value ?? null }] : [],
  )
}
