import { describe, expect, it } from 'vitest'
import { draws } from '../../tests/keyed-draws.ts'
import { crossedDetectable, crossedPairsNeeded, crossedTasksNeeded, detectableBySeeds } from './crossed-power.ts'
import { comparePaired } from './paired-comparison.ts'

const experiments = 200

/** How often a claim of no smallest effect is supported in experiments with normal differences of this mean. */
function supported(
  effect: number,
  plan: { seed: number; task: number; residual: number; pairs: number; tasks: number },
) {
  const random = draws('crossed-power')
  const normal = (variance: number) => Math.sqrt(variance) * random.normal()
  const seeds = Array.from({ length: plan.pairs }, (_, s) => s)
  const tasks = Array.from({ length: plan.tasks }, (_, t) => String(t))
  let count = 0
  for (let k = 0; k < experiments; k++) {
    const ofTasks = tasks.map(() => normal(plan.task))
    const rows = seeds.map(() => {
      const ofSeed = effect + normal(plan.seed)
      return ofTasks.map((task) => ofSeed + task + normal(plan.residual))
    })
    const baseline = { seeds, tasks, cells_S_T: rows.map((row) => row.map(() => 0)) }
    const { interval } = comparePaired({
      treatment: { seeds, tasks, cells_S_T: rows },
      baseline,
      direction: 'max',
      resolution: 1e-9,
      random,
    })
    if (interval !== null && interval.lower > 0) count++
  }
  return count / experiments
}

describe('the power of a plan over seeds and tasks', () => {
  it.each([
    { seed: 0.0004, task: 0.1, residual: 0.1, pairs: 3, tasks: 60 },
    { seed: 0, task: 0.25, residual: 0.25, pairs: 3, tasks: 40 },
    { seed: 0.01, task: 0.02, residual: 0.1, pairs: 5, tasks: 40 },
    { seed: 0.002, task: 0.3, residual: 0.05, pairs: 8, tasks: 30 },
  ])('an effect that it says is detected is supported in about four of five experiments: %o (USE-118)', (plan) => {
    const { pairs, tasks, ...variances } = plan
    const least = crossedDetectable({ variances, pairs, tasks, confidence: 0.9 }) ?? Number.NaN
    expect(supported(least, plan)).toBeGreaterThan(0.7)
    expect(supported(least, plan)).toBeLessThan(0.9)
  })

  it('falls with seeds to what the tasks leave, and no further (USE-118)', () => {
    const crossed = { variances: { seed: 0.01, task: 0.25, residual: 0.2 }, tasks: 50, confidence: 0.9 }
    const at = [2, 3, 5, 20, 1000].map((pairs) => crossedDetectable({ ...crossed, pairs }) ?? Number.NaN)
    expect(at).toEqual(at.toSorted((a, b) => b - a))
    const least = detectableBySeeds(crossed)
    expect(at.at(-1)).toBeGreaterThan(least)
    expect(at.at(-1)).toBeLessThan(1.05 * least)
    expect(crossedPairsNeeded({ ...crossed, gap: 0.99 * least })).toBeNull()
    expect(crossedPairsNeeded({ ...crossed, gap: 1.3 * least })).toBeGreaterThan(2)
    expect(crossedTasksNeeded({ ...crossed, pairs: 20, gap: 0.99 * least })).toBeGreaterThan(50)
  })

  it('one pair shows nothing, and tasks cannot make up for the chance of seeds (USE-118)', () => {
    const crossed = { variances: { seed: 0.01, task: 0.1, residual: 0.1 }, confidence: 0.9 }
    expect(crossedDetectable({ ...crossed, pairs: 1, tasks: 1000 })).toBeNull()
    expect(crossedTasksNeeded({ ...crossed, pairs: 2, gap: 0.05 })).toBeNull()
  })
})
