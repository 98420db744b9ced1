// Many simulated sessions in a few numbers, in units of the noise where nothing else is said.

import { clopperPearson, moments } from '../../src/stats/index.ts'
import { type SimulatedSession, type SimulationOptions, simulateSession } from './simulate-session.ts'
import type { RunPurpose } from './simulated-runs.ts'

/** Simulates `sessions` of them with seeds `seed`, `seed + 1`, ... and sums them up. */
export function simulateSessions(options: SimulationOptions, sessions: number) {
  const all = Array.from({ length: sessions }, (_, i) => simulateSession({ ...options, seed: options.seed + i }))
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
    /** Seen by the search less true. */
    optimism: mean(({ seenGain, trueGain }) => seenGain - trueGain),
    keeps,
    /** Share of keeps whose idea helps nothing. */
    idleShare: keeps === 0 ? 0 : mean(({ idleKeeps }) => idleKeeps) / keeps,
    shrunken: shrunkenOf(all, keeps),
    experiments: mean(({ experiments }) => experiments),
    /** Shares of the runs on validation, by what they were for. */
    spent: {
      baseline: share('baseline'),
      'first seeds': share('first seeds'),
      'later seeds': share('later seeds'),
      incumbent: share('incumbent'),
      control: share('control'),
    },
    hiddenRuns: mean(({ runs }) => runs.test),
    /** Shares of sessions: that evaluated on test, that confirmed anything, and what is no better than the baseline. */
    looked: mean((session) => Number(session.evaluations.length > 0)),
    confirmed: mean((session) => Number(session.evaluations.some(({ confirmed }) => confirmed))),
    falselyConfirmed: falseCount / all.length,
    /** That called a champion better on these items, which is no claim about others. */
    better: mean((session) => Number(session.evaluations.some(({ better, confirmed }) => better && !confirmed))),
    /** Exact one-sided 95 % upper bound. */
    falselyConfirmedAtMost: clopperPearson(falseCount, all.length, 0.9).upper,
    /** Reported on fresh seeds less true: over the last test evaluations of sessions, and over those that confirmed. */
    bias: biasOf(evaluations.filter(({ reason }) => reason === 'end')),
    biasConfirmed: biasOf(evaluations.filter(({ confirmed }) => confirmed)),
    /** The same of gains that are shrunken for having passed. */
    biasShrunken: biasOf(
      evaluations.flatMap(({ confirmed, reported, truth }) =>
        confirmed && reported?.shrunken !== undefined ? [{ reported: { gain: reported.shrunken }, truth }] : [],
      ),
    ),
    /** Share of the intervals of last test evaluations that hold the true gain, and what they promise, on average. */
    coverage: coverageOf(evaluations.filter(({ reason }) => reason === 'end')),
    /** Test evaluations whose verdict says other than their interval does: none, by construction. */
    contradictions: evaluations.filter(({ better, reported }) => better !== (reported?.interval?.lower ?? 0) > 0)
      .length,
    driftShare: mean(({ drifts }) => Number(drifts > 0)),
  }
}

/** What sessions say of one keep: the share that helps nothing, its gain as measured and shrunk, and its true gain. */
function shrunkenOf(all: readonly SimulatedSession[], keeps: number) {
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

function coverageOf(evaluations: SimulatedSession['evaluations']) {
  const all = evaluations.flatMap(({ reported, truth }) => {
    if (reported?.interval === undefined) return []
    const { lower, upper } = reported.interval
    return [{ holds: Number(lower <= truth && truth <= upper), confidence: reported.confidence ?? 0.9 }]
  })
  if (all.length === 0) return null
  const mean = (value: (one: (typeof all)[number]) => number) => moments(all.map(value)).mean
  return { share: mean(({ holds }) => holds), promised: mean(({ confidence }) => confidence), n: all.length }
}

function biasOf(
  evaluations: readonly { readonly truth: number; readonly reported?: { readonly gain: number } | undefined }[],
) {
  const errors = evaluations.flatMap(({ reported, truth }) => (reported === undefined ? [] : [reported.gain - truth]))
  if (errors.length === 0) return null
  const { mean, variance, n } = moments(errors)
  return { mean, standardError: Math.sqrt((variance ?? 0) / n), n }
}
