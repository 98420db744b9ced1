// Races, noise and looks as the judge wants them, from the state of a session.
import type {
  PlannedLook,
  Race,
  ResearchAttempt,
  ResearchEntryOf,
  ResearchState,
  SeedScore,
} from '../../contracts/index.ts'
import { type LookRecord, pairGains, type SeedResult, type SessionNoise, sessionNoise } from '../judge/index.ts'
import { attemptOf } from './candidate-files.ts'

/** Of a session that has kept nothing yet: its first ideas may be large. In sigmas. */
const STARTING_TYPICAL_GAIN = 1.6

export function noiseOf(state: ResearchState): SessionNoise {
  const baseline = state.attempts.find(({ id }) => id === state.baseline)
  const first = (baseline?.runs ?? []).flatMap(({ purpose, seed, value }) =>
    purpose === 'noise' && value !== undefined ? [{ seed, value }] : [],
  )
  const races = state.attempts.map(({ pairs }) => pairs)
  return sessionNoise(first, races, state.jitter)
}

export function typicalGainOf(state: ResearchState): number {
  return state.typicalGain ?? STARTING_TYPICAL_GAIN
}

/** The race of an attempt against the incumbent of now. */
export function raceOf(state: ResearchState, attempt: ResearchAttempt, incumbent: ResearchAttempt): Race {
  const { sigma, degreesOfFreedom } = noiseOf(state)
  const settings = state.settings
  return {
    direction: settings?.direction ?? 'min',
    candidate: attempt.scores,
    incumbent: inBankOrder(incumbent.scores, state.bank),
    noise: { sigma, degreesOfFreedom },
    typicalGain: typicalGainOf(state),
    linesAdded: attempt.lines - incumbent.lines,
    secondary: settings?.secondary ?? [],
  }
}

/** Gains of an attempt over another, seed by seed. */
export function gainsOver(state: ResearchState, attempt: ResearchAttempt, other: ResearchAttempt): number[] {
  return pairGains(state.settings?.direction ?? 'min', attempt.scores, other.scores)
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
