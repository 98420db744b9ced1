// Many simulated sessions in a few numbers, in units of the noise where nothing else is said.

import { clopperPearson, moments } from '../../stats/index.ts'
import { type SimulatedSession, type SimulationOptions, simulateSession } from './simulate-session.ts'
import type { RunPurpose } from './simulated-runs.ts'

export interface SessionsSummary {
  readonly sessions: number
  readonly trueGain: number
  /** Standard error of `trueGain`. */
  readonly trueGainError: number
  /** Seen by the search less true. */
  readonly optimism: number
  readonly keeps: number
  /** Share of keeps whose idea helps nothing. */
  readonly idleShare: number
  /** What sessions say of one keep: the share that helps nothing, its gain as measured and shrunk, and its true gain. */
  readonly shrunken: {
    readonly idleShare: number
    readonly raw: number
    readonly shrunk: number
    readonly truth: number
  } | null
  readonly experiments: number
  /** Shares of the runs on validation, by what they were for. */
  readonly spent: SimulatedSession['spent']
  /** Runs on the hidden split. */
  readonly hiddenRuns: number
  /** Share of sessions that evaluated on test, that confirmed anything, and that confirmed what is no better than the baseline. */
  readonly looked: number
  readonly confirmed: number
  readonly falselyConfirmed: number
  /** Exact one-sided 95 % upper bound of `falselyConfirmed`. */
  readonly falselyConfirmedAtMost: number
  /** Reported on fresh seeds less true: over the last test evaluations of sessions, and over those that confirmed. Null without any. */
  readonly bias: Bias | null
  readonly biasConfirmed: Bias | null
  readonly driftShare: number
}

export interface Bias {
  readonly mean: number
  readonly standardError: number
  readonly n: number
}

/** Simulates `sessions` of them with seeds `seed`, `seed + 1`, ... and sums them up. */
export function simulateSessions(options: SimulationOptions, sessions: number): SessionsSummary {
  const all = Array.from({ length: sessions }, (_, i) => simulateSession({ ...options, seed: options.seed + i }))
  return summarizeSessions(all)
}

/** Sums up sessions of one kind. */
function summarizeSessions(all: readonly SimulatedSession[]): SessionsSummary {
  const mean = (value: (session: SimulatedSession) => number) => moments(all.map(value)).mean
  const share = (purpose: RunPurpose) => mean(({ spent, runs }) => spent[purpose] / runs.val)
  const gains = moments(all.map(({ trueGain }) => trueGain))
  const keeps = mean((session) => session.keeps)
  const isFalse = ({ evaluations }: SimulatedSession) =>
    evaluations.some(({ confirmed, truth }) => confirmed && truth <= 0)
  const falseCount = all.filter(isFalse).length
  const evaluations = all.flatMap((session) => session.evaluations)
  return {
    sessions: all.length,
    trueGain: gains.mean,
    trueGainError: Math.sqrt((gains.variance ?? 0) / all.length),
    optimism: mean(({ seenGain, trueGain }) => seenGain - trueGain),
    keeps,
    idleShare: keeps === 0 ? 0 : mean(({ idleKeeps }) => idleKeeps) / keeps,
    shrunken: shrunkenOf(all, keeps),
    experiments: mean(({ experiments }) => experiments),
    spent: {
      baseline: share('baseline'),
      'first seeds': share('first seeds'),
      'later seeds': share('later seeds'),
      incumbent: share('incumbent'),
      control: share('control'),
    },
    hiddenRuns: mean(({ runs }) => runs.test),
    looked: mean((session) => Number(session.evaluations.length > 0)),
    confirmed: mean((session) => Number(session.evaluations.some(({ confirmed }) => confirmed))),
    falselyConfirmed: falseCount / all.length,
    falselyConfirmedAtMost: clopperPearson(falseCount, all.length, 0.9).upper,
    bias: biasOf(evaluations.filter(({ reason }) => reason === 'end')),
    biasConfirmed: biasOf(evaluations.filter(({ confirmed }) => confirmed)),
    driftShare: mean(({ drifts }) => Number(drifts > 0)),
  }
}

function shrunkenOf(all: readonly SimulatedSession[], keeps: number): SessionsSummary['shrunken'] {
  const shrunken = all.flatMap((session) => session.shrunken ?? [])
  if (shrunken.length < all.length || keeps === 0) return null
  const perKeep = (value: (one: (typeof shrunken)[number]) => number) => moments(shrunken.map(value)).mean / keeps
  return {
    idleShare: perKeep(({ idleKeeps }) => idleKeeps),
    raw: perKeep(({ rawGain }) => rawGain),
    shrunk: perKeep(({ shrunkGain }) => shrunkGain),
    truth: perKeep(({ trueGain }) => trueGain),
  }
}

function biasOf(evaluations: readonly SimulatedSession['evaluations'][number][]): Bias | null {
  const errors = evaluations.flatMap(({ reported, truth }) => (reported === undefined ? [] : [reported.gain - truth]))
  if (errors.length === 0) return null
  const { mean, variance, n } = moments(errors)
  return { mean, standardError: Math.sqrt((variance ?? 0) / n), n }
}
