// Whole sessions of known truth, by the functions that the loop decides with. Seeds are fixed: every lane sees the same sessions.

import { describe, expect, it } from 'vitest'
import { simulateSession } from '../../bench/research/simulate-session.ts'
import { openItemWorld, openWorld, type WorldName } from '../../bench/research/simulated-runs.ts'
import { simulateSessions } from '../../bench/research/summarize-sessions.ts'
import type { KeepRule } from '../../src/contracts/index.ts'
import { defaultRule, greedyRule, referenceRule } from '../../src/research/keep/keep-rules.ts'
import { inFullLane } from '../scale.ts'

describe('a simulated session', () => {
  it('repeats exactly, and is its own mirror where smaller is better (RES-218)', () => {
    const options = { world: openWorld('early', 0.3, 0.1), rule: defaultRule, runs: 80, seed: 5 }
    const session = simulateSession(options)
    expect(simulateSession(options)).toEqual(session)
    const mirrored = simulateSession({ ...options, direction: 'max' })
    expect(mirrored.trueGain).toBe(session.trueGain)
    expect(mirrored.keeps).toBe(session.keeps)
    expect(mirrored.evaluations.map(({ confirmed, truth }) => [confirmed, truth])).toEqual(
      session.evaluations.map(({ confirmed, truth }) => [confirmed, truth]),
    )
  })

  it('keeps nothing of a world where every run fails, and ends (RES-218)', () => {
    const world = openWorld('early', 0, 1)
    const { keeps, evaluations } = simulateSession({ world, rule: defaultRule, runs: 30, seed: 1 })
    expect({ keeps, evaluations }).toEqual({ keeps: 0, evaluations: [] })
  })
})

describe('the null world', () => {
  const sessions = inFullLane ? 2000 : 200
  // The fast lane has a tenth of the sessions: its bounds are wider by what chance adds to so few.
  const limit = inFullLane ? { rate: 0.06, bias: 0.1, cover: 0.03 } : { rate: 0.1, bias: 0.2, cover: 0.06 }
  const worlds = [
    ['balanced', 'null', 0],
    ['balanced', 'null', 0.6],
    ['explore', 'null', 0.6],
    ['strict', 'null', 0],
    ['balanced', 'harmful', 0.3],
  ] as const

  it('rarely confirms anything, what is reported is right on average, and its interval covers as it says (RES-215)', () => {
    for (const [preset, name, rho] of worlds) {
      const world = openWorld(name, rho)
      const sigma = Math.sqrt(2 * (1 - rho))
      const summary = simulateSessions({ world, rule: defaultRule, params: { preset }, runs: 100, seed: 1 }, sessions)
      expect(summary.falselyConfirmedAtMost).toBeLessThanOrEqual(limit.rate)
      expect(Math.abs(summary.bias?.mean ?? 0)).toBeLessThan(limit.bias * sigma)
      // It would say nothing if nothing were ever looked at.
      expect(summary.looked).toBeGreaterThan(0.2)
      expect(summary.contradictions).toBe(0)
      const { share = 0, promised = 1 } = summary.coverage ?? {}
      expect(share).toBeGreaterThan(promised - limit.cover)
    }
  })

  // The worlds that a few items and no seed noise make: item luck of 0.5, 1 and 3 seed deviations, coins, and answers that hardly differ.
  it.each([
    ['luck of 0.5 seed deviations', { count: 100, seedNoise: 1, outcomes: { luck: 0.5 } }],
    ['luck of 1', { count: 100, seedNoise: 1, outcomes: { luck: 1 } }],
    ['luck of 3', { count: 100, seedNoise: 1, outcomes: { luck: 3 } }],
    ['fair coins', { count: 200, seedNoise: 0, outcomes: { share: 1 } }],
    ['nearly the same answers', { count: 118, seedNoise: 0, outcomes: { share: 0.08 } }],
  ] as const)('confirms as rarely on few items, and nothing of one number: %s (USE-22, USE-140)', (_name, items) => {
    const all = inFullLane ? 1000 : 60
    const options = { world: openItemWorld(items), rule: defaultRule, runs: 60, seed: 1 }
    const summary = simulateSessions(options, all)
    expect(summary.falselyConfirmed).toBeLessThanOrEqual(inFullLane ? 0.065 : 0.1)
    expect(summary.contradictions).toBe(0)
    expect(summary.looked).toBeGreaterThan(0.2)
    const scalar = simulateSessions({ ...options, world: openItemWorld({ ...items, isScalar: true }) }, all)
    expect({ confirmed: scalar.confirmed, contradictions: scalar.contradictions }).toEqual({
      confirmed: 0,
      contradictions: 0,
    })
    if (items.seedNoise > 0) expect(scalar.better).toBeGreaterThan(0) // it says less, and not nothing
  })
})

describe('worlds of known effects', () => {
  const sessions = inFullLane ? 500 : 40
  const summaries = (name: WorldName, rho: number, runs: number) =>
    [defaultRule, referenceRule, greedyRule].map((rule: KeepRule) =>
      simulateSessions({ world: openWorld(name, rho), rule, runs, seed: 1 }, sessions),
    )

  // The fast lane has a twelfth of the sessions.
  const most = inFullLane ? { optimism: 0.75, idle: 0.85 } : { optimism: 0.9, idle: 0.9 }
  it.each([
    ['early', 0, 300],
    ['early', 0.6, 300],
    ['late', 0.6, 300],
    ['shrinking', 0.6, 600],
  ] as const)('%s, rho %d: less is overstated, and fewer keeps are idle (RES-217, RES-222)', (name, rho, runs) => {
    const [ours, reference, greedy] = summaries(name, rho, runs)
    if (ours === undefined || reference === undefined || greedy === undefined) throw new Error('no summary')
    expect(ours.optimism).toBeLessThan(most.optimism * reference.optimism)
    expect(ours.optimism).toBeLessThan(0.75 * greedy.optimism)
    expect(ours.idleShare).toBeLessThan(most.idle * reference.idleShare)
    expect(ours.idleShare).toBeLessThan(0.85 * greedy.idleShare)
    expect(ours.keeps * ours.idleShare).toBeLessThan(0.85 * reference.keeps * reference.idleShare)
    // What is spent on honesty is not spent on ideas: that costs while ideas are large, and nothing where they shrink.
    expect(ours.trueGain).toBeGreaterThan((name === 'early' ? 0.78 : inFullLane ? 0.97 : 0.8) * reference.trueGain)
  })

  it.each([
    ['early', 0.6, 150],
    ['shrinking', 0, 150],
    ['rare', 0.6, 150],
  ] as const)('%s, rho %d: what a session says of its keeps is near the truth (RES-223)', (name, rho, runs) => {
    const options = { world: openWorld(name, rho), rule: defaultRule, runs, seed: 1, shrinks: true }
    const { shrunken, idleShare } = simulateSessions(options, inFullLane ? 200 : 8)
    if (shrunken === null) throw new Error('nothing was kept')
    expect(Math.abs(shrunken.idleShare - idleShare)).toBeLessThan(inFullLane ? 0.15 : 0.25)
    expect(Math.abs(shrunken.shrunk - shrunken.truth)).toBeLessThan(inFullLane ? 0.25 : 0.5)
    expect(shrunken.shrunk).toBeLessThan(shrunken.raw)
  })

  it('gains that are beyond the noise are confirmed, and shrunken without bias (RES-216)', () => {
    const [ours] = summaries('shrinking', 0, 300)
    expect(ours?.confirmed).toBeGreaterThan(0.9)
    expect(ours?.falselyConfirmedAtMost).toBeLessThan(inFullLane ? 0.06 : 0.08)
    expect(Math.abs(ours?.biasConfirmed?.mean ?? Number.NaN)).toBeLessThan((inFullLane ? 0.1 : 0.3) * Math.SQRT2)
  })
})
