import { describe, expect, it } from 'vitest'
import { draws } from '../../tests/keyed-draws.ts'
import { bootstrap, crossedBootstrap } from './bootstrap.ts'
import { moments } from './moments.ts'

// Efron and Tibshirani (1993), An Introduction to the Bootstrap, tables 14.1 and 14.2: spatial test scores of 26 children; the
// statistic is the plug-in variance. The book's 90 % percentile interval, from 2,000 resamples: (100.8, 233.9).
const spatial = [48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6, 0, 33, 28, 34, 4, 32, 24, 47, 41, 24, 26, 30, 41]
const plugInVariance = (values: readonly number[]) => {
  const { n, variance } = moments(values)
  return ((variance ?? 0) * (n - 1)) / n
}
const spatialInterval = (seed: number, resamples = 20_000) =>
  bootstrap({
    values: spatial,
    statistic: plugInVariance,
    confidence: 0.9,
    resamples,
    random: draws('spatial', seed),
  })

describe('bootstrap', () => {
  it('gives the book’s percentile interval within its own resampling error (STA-3)', () => {
    const { estimate, interval } = spatialInterval(1)
    expect(estimate).toBeCloseTo(171.5, 1)
    expect(Math.abs(interval.lower - 100.8)).toBeLessThan(4)
    expect(Math.abs(interval.upper - 233.9)).toBeLessThan(4)
  })

  it('repeats with its seed and differs with another (STA-3)', () => {
    expect(spatialInterval(1, 500)).toEqual(spatialInterval(1, 500))
    expect(spatialInterval(1, 500)).not.toEqual(spatialInterval(2, 500))
  })

  it('finds the standard error of a mean (STA-3)', () => {
    const statistic = (values: readonly number[]) => moments(values).mean
    const found = bootstrap({ values: spatial, statistic, confidence: 0.9, random: draws('mean') })
    const exact = Math.sqrt(plugInVariance(spatial) / spatial.length)
    expect(Math.abs(found.standardError / exact - 1)).toBeLessThan(0.05)
  })

  it('keeps a statistic that never varies (STA-3)', () => {
    const constant = { values: [1, 1, 1], statistic: (values: readonly number[]) => values[0] ?? 0, confidence: 0.9 }
    expect(bootstrap({ ...constant, random: draws('flat') }).interval).toMatchObject({ lower: 1, upper: 1 })
  })

  it('refuses one value, few resamples and a statistic that is no number (STA-3)', () => {
    const options = { statistic: plugInVariance, confidence: 0.9, random: draws('x') } as const
    expect(() => bootstrap({ ...options, values: [1] })).toThrow(/two values/)
    expect(() => bootstrap({ ...options, values: [1, 2], resamples: 10 })).toThrow(/resamples/)
    expect(() => bootstrap({ ...options, values: [1, 2], statistic: () => Number.NaN })).toThrow(/statistic/)
    expect(() => bootstrap({ ...options, values: [1, 2], confidence: 1 })).toThrow(/confidence/)
  })
})

describe('crossedBootstrap', () => {
  // Large task effects, small seed effects.
  const values_S_T = [0, 0.01, -0.01, 0.02].map((seed) => [1, -1, 2, -2, 0.5, -0.5].map((task) => seed + task))

  it('holds seed chance alone, or task chance as well (STA-3)', () => {
    const options = { values_S_T, confidence: 0.9, random: draws('crossed') }
    const fixed = crossedBootstrap({ ...options, tasks: 'fixed' })
    const both = crossedBootstrap({ ...options, tasks: 'random' })
    expect(fixed.estimate).toBeCloseTo(0.005, 12)
    // Var of a resampled mean of seeds: plug-in variance / S. Tasks add theirs / T.
    const seedError = Math.sqrt(plugInVariance([0, 0.01, -0.01, 0.02]) / 4)
    const taskError = Math.sqrt(plugInVariance([1, -1, 2, -2, 0.5, -0.5]) / 6)
    expect(Math.abs(fixed.standardError / seedError - 1)).toBeLessThan(0.05)
    expect(Math.abs(both.standardError / Math.hypot(seedError, taskError) - 1)).toBeLessThan(0.05)
    expect(both.interval.lower).toBeLessThan(fixed.interval.lower)
  })

  it('refuses ragged tables and single seeds (STA-3)', () => {
    const options = { tasks: 'random', confidence: 0.9, random: draws('x') } as const
    expect(() => crossedBootstrap({ ...options, values_S_T: [[1, 2], [1]] })).toThrow(/same tasks/)
    expect(() => crossedBootstrap({ ...options, values_S_T: [[1, 2]] })).toThrow(/two seeds/)
    expect(() => crossedBootstrap({ ...options, values_S_T: [[], []] })).toThrow(/one task/)
  })
})
