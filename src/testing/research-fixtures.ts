// A small session of the research loop as data: what proposers, strategies and keep rules are tested with.
import type { Attempt, Brief, Race, SearchState, SeedScore } from '../contracts/index.ts'

/** Scores on the seeds 1, 2, 3, ... */
export function seedScores(values: readonly number[]): SeedScore[] {
  return values.map((value, i) => ({ seed: i + 1, value, secondary: {} }))
}

/** A session with two knobs, whose first attempt `a1` beat the baseline `a0`, where lower is better. */
export function researchState(changes: Partial<SearchState> = {}): SearchState {
  return {
    direction: 'min',
    incumbent: 'a1',
    banned: [],
    space: {
      HIDDEN: { kind: 'choice', values: [16, 32, 64], ordered: true },
      LEARNING_RATE: { kind: 'range', low: 0.001, high: 1, log: true, integer: false },
    },
    attempts: [
      attempt(0, 'baseline', { LEARNING_RATE: 0.05, HIDDEN: 32 }, [0.11, 0.12, 0.13]),
      attempt(1, 'LEARNING_RATE 0.05 -> 0.2', { LEARNING_RATE: 0.2, HIDDEN: 32 }, [0.08, 0.09, 0.1]),
    ],
    ...changes,
  }
}

/** What a proposer is handed in that session: one idea that improves the incumbent is asked for. */
export function researchBrief(changes: Partial<Brief> = {}): Brief {
  const state = changes.state ?? researchState()
  return {
    text: 'Lower the error rate of train.mjs.',
    request: { parents: [state.incumbent], mode: 'improve', ideas: 1, avoidFamilies: [] },
    files: { 'train.mjs': 'const LEARNING_RATE = 0.2\nconst HIDDEN = 32\n' },
    ...changes,
    state,
  }
}

/** A candidate against the incumbent, before its first seed unless scores are given. */
export function researchRace(changes: Partial<Race> = {}): Race {
  return {
    direction: 'min',
    candidate: [],
    incumbent: seedScores([0.08, 0.09, 0.1]),
    noise: { sigma: 0.01, degreesOfFreedom: 4 },
    typicalGain: 1,
    linesAdded: 0,
    secondary: [],
    ...changes,
  }
}

function attempt(number: number, title: string, knobs: Attempt['knobs'], scores: readonly number[]): Attempt {
  return {
    id: `a${number}`,
    number,
    parents: number === 0 ? [] : ['a0'],
    title,
    hypothesis: '',
    family: number === 0 ? 'baseline' : 'learning rate',
    category: 'optimizer',
    mode: 'improve',
    knobs,
    fingerprint: `f${number}`,
    lines: 2,
    scores: seedScores(scores),
    verdict: 'provisional',
  }
}
