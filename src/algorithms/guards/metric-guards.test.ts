import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { honestRun } from '../../../tests/honest-runs.ts'
import { inFullLane } from '../../../tests/scale.ts'
import { Guards } from '../index.ts'
import {
  entropyCollapse,
  type GuardedMetric,
  type GuardRow,
  guardedMetrics,
  klBlowup,
  lengthExplosion,
  rewardHacking,
} from './metric-guards.ts'

const settings = Guards.parse({})
const looks = {
  entropy_collapse: (rows: readonly GuardRow[], after = -1) =>
    entropyCollapse({ rows, after }, settings.entropy_collapse),
  kl_blowup: (rows: readonly GuardRow[], after = -1) => klBlowup({ rows, after }, settings.kl_blowup),
  reward_hacking: (rows: readonly GuardRow[], after = -1) => rewardHacking({ rows, after }, settings.reward_hacking),
  length_explosion: (rows: readonly GuardRow[], after = -1) =>
    lengthExplosion({ rows, after }, settings.length_explosion),
}
type Look = (typeof looks)[keyof typeof looks]

/** The first step at which a guard finds something. */
function tripsAt(look: Look, rows: readonly GuardRow[], after = -1): number | undefined {
  for (let end = 1; end <= rows.length; end++) {
    if (look(rows.slice(0, end), after) !== undefined) return rows[end - 1]?.step
  }
  return undefined
}

/** Rows of metrics that are a function of the step. */
function rowsOf(steps: number, metrics: Partial<Record<GuardedMetric, (step: number) => number>>): GuardRow[] {
  return Array.from({ length: steps }, (_, step) => ({
    step,
    values: Object.fromEntries(Object.entries(metrics).map(([name, of]) => [name, of(step)])),
  }))
}

/** Runs for the estimate; each has up to 400 steps, and every step is a look. */
const honestRuns = inFullLane ? 3000 : 40

describe('guards of rollouts', () => {
  it('leave honest noisy runs alone: less than one in a hundred trips anything (RL-404)', () => {
    const seeds = Array.from({ length: honestRuns }, (_, seed) => seed)
    const tripped = seeds.filter((seed) => {
      const rows = honestRun(seed)
      return Object.values(looks).some((look) => tripsAt(look, rows) !== undefined)
    })
    expect(tripped.length / honestRuns).toBeLessThan(0.01)
  })

  it('leave recorded runs of the examples alone, whose entropy falls far while they learn (RL-404)', () => {
    const Curves = z.record(z.string(), z.partialRecord(z.enum(guardedMetrics), z.array(z.number().nullable())))
    const file = new URL('../../../tests/fixtures/honest-curves.json', import.meta.url)
    const runs = Object.entries(Curves.parse(JSON.parse(readFileSync(file, 'utf8'))))
    expect(runs).toHaveLength(6)
    for (const [name, curves] of runs) {
      const steps = curves['reward/mean']?.length ?? 0
      const rows = Array.from({ length: steps }, (_, step): GuardRow => {
        const told = guardedMetrics.flatMap((metric) => {
          const value = curves[metric]?.[step]
          return value == null ? [] : [[metric, value] as const]
        })
        return { step, values: Object.fromEntries(told) }
      })
      expect(rows.length).toBeGreaterThanOrEqual(30)
      for (const [guard, look] of Object.entries(looks))
        expect(tripsAt(look, rows), `${name}: ${guard}`).toBeUndefined()
    }
  })

  it('see honest runs that turn bad, within twenty steps (RL-404)', () => {
    const turned = (name: GuardedMetric, change: (value: number, after: number) => number, seed: number) =>
      honestRun(seed).map((row): GuardRow => {
        const value = row.values[name]
        return row.step < 40 || value === undefined
          ? row
          : { ...row, values: { ...row.values, [name]: change(value, row.step - 40) } }
      })
    const long = Array.from({ length: 40 }, (_, seed) => seed).filter((seed) => honestRun(seed).length > 60)
    expect(long.length).toBeGreaterThan(20)
    for (const seed of long) {
      expect(
        tripsAt(
          looks.kl_blowup,
          turned('optim/kl_sample_train_v2', () => 3, seed),
        ),
      ).toBe(42)
      const longer = tripsAt(
        looks.length_explosion,
        turned('rollout/length_mean', (v) => 20 * v + 200, seed),
      )
      expect(longer).toBeLessThan(60)
    }
  })
})

describe('entropy collapse', () => {
  const falls = (step: number) => 2 * 0.7 ** step
  it('is a fall without a gain, and not one with it (RL-402)', () => {
    const rows = rowsOf(40, { 'optim/entropy': falls, 'reward/mean': () => 0.4 })
    expect(tripsAt(looks.entropy_collapse, rows)).toBe(15)
    const better = rowsOf(40, { 'optim/entropy': falls, 'reward/mean': (step) => Math.min(0.9, 0.4 + step / 20) })
    expect(tripsAt(looks.entropy_collapse, better)).toBeUndefined()
    expect(tripsAt(looks.entropy_collapse, rowsOf(40, { 'optim/entropy': falls }))).toBeUndefined()
  })

  it('says since when, so that the run goes back far enough (RL-402)', () => {
    const rows = rowsOf(30, { 'optim/entropy': (step) => (step < 12 ? 1 : 0.001), 'reward/mean': () => 0 })
    expect(looks.entropy_collapse(rows)).toMatchObject({ since: 12 })
  })

  it('is not seen in what was before a roll-back (RL-403)', () => {
    const rows = rowsOf(30, { 'optim/entropy': (step) => (step < 12 ? 1 : 0.001), 'reward/mean': () => 0 })
    expect(looks.entropy_collapse(rows, 21)).toMatchObject({ since: 12 })
    expect(looks.entropy_collapse(rows, 22)).toBeUndefined()
  })
})

describe('reward hacking', () => {
  it('is seen when both rose at first, and goes back to the best (RL-402)', () => {
    const rows = rowsOf(60, {
      'reward/mean': (step) => step / 100,
      'heldout/mean': (step) => (step < 24 ? step / 100 : 0.24 - (step - 24) / 100),
    })
    expect(tripsAt(looks.reward_hacking, rows)).toBeGreaterThan(28)
    expect(looks.reward_hacking(rows)).toMatchObject({ since: 32 })
  })

  it('is not a reward that falls with the held-out verifier (RL-402)', () => {
    const rows = rowsOf(60, { 'reward/mean': (step) => 1 - step / 100, 'heldout/mean': (step) => 1 - step / 100 })
    expect(tripsAt(looks.reward_hacking, rows)).toBeUndefined()
  })
})

describe('KL', () => {
  it('one strange step is nothing, three are a blow-up (RL-402)', () => {
    const one = rowsOf(20, { 'optim/kl_sample_train_v2': (step) => (step === 9 ? 50 : 0.001) })
    expect(tripsAt(looks.kl_blowup, one)).toBeUndefined()
    const many = rowsOf(20, { 'optim/kl_sample_train_v2': (step) => (step >= 9 ? 50 : 0.001) })
    expect(tripsAt(looks.kl_blowup, many)).toBe(11)
  })

  it('from the reference may be as far as the entropy that the policy began with allows (RL-402)', () => {
    const away = (entropy: number) =>
      rowsOf(40, { 'optim/entropy': () => entropy, 'optim/kl_reference': (step) => step / 8 })
    expect(tripsAt(looks.kl_blowup, away(0.2))).toBe(19)
    expect(tripsAt(looks.kl_blowup, away(1))).toBe(35)
    expect(tripsAt(looks.kl_blowup, away(5))).toBeUndefined()
  })
})
