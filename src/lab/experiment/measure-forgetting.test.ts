import { describe, expect, it } from 'vitest'
import { samplePlan } from '../../../tests/sample-plan.ts'
import type { Plan } from '../../contracts/index.ts'
import { measureForgetting } from './measure-forgetting.ts'
import type { RecordedRun } from './weigh-evidence.ts'

type Scores = Readonly<Record<string, number>>

/** A chain with one seed for each list of scores, by stage. */
function chainOf(stages: Readonly<Record<string, readonly Scores[]>>, direction: 'max' | 'min' = 'max') {
  const sample = samplePlan({})
  const arms = Object.keys(stages)
  const benchmark = ['a', 'b'].map((name) => ({ name, metrics: ['pass@1'] }))
  const plan = {
    ...sample,
    experiment: { ...sample.experiment, continual: { datasets: [] }, metadata: { benchmark } },
    objective: { benchmark: 'a', metric: 'pass@1', direction },
    arms: arms.map((name) => ({ name, params: name === 'mix' ? { mix: true } : {}, seeds: [1] })),
    runs: arms.map((name, stage) => ({ name, arm: name, seed: 1, ...(name === 'mix' ? {} : { stage }) })),
  } as unknown as Plan // the parts that are looked at
  const runs = Object.entries(stages).flatMap(([arm, seeds]) =>
    seeds.map((scores) => ({
      run: { arm },
      evals: Object.entries(scores).map(([name, value]) => ({ benchmark: name, metrics: { 'pass@1': value } })),
    })),
  ) as unknown as RecordedRun[]
  return measureForgetting(plan, runs)
}

describe('forgetting', () => {
  it('is the best earlier score less the last one, over the mean of the seeds (LAB-59)', () => {
    const found = chainOf({
      first: [
        { a: 0.9, b: 0 },
        { a: 0.7, b: 0 },
      ],
      second: [{ a: 0.6, b: 0.5 }],
      third: [{ a: 0.2, b: 0.75 }],
      mix: [{ a: 1, b: 1 }],
    })
    expect(found?.stages.map(({ arm, scores }) => [arm, ...scores])).toEqual([
      ['first', 0.8, 0],
      ['second', 0.6, 0.5],
      ['third', 0.2, 0.75],
    ])
    expect(found?.lost.map((value) => Number(value?.toFixed(6)))).toEqual([0.6, -0.25])
    expect(found?.mix).toEqual({ arm: 'mix', scores: [1, 1] })
  })

  it('counts the other way round where less is better (LAB-59)', () => {
    expect(chainOf({ first: [{ a: 1, b: 1 }], second: [{ a: 3, b: 0.5 }] }, 'min')?.lost).toEqual([2, -0.5])
  })

  it('is unknown where a score is missing, and absent without a chain (LAB-59)', () => {
    expect(chainOf({ first: [{ a: 1 }], second: [{ b: 1 }] })).toMatchObject({ lost: [null, null], mix: null })
    expect(chainOf({ first: [{ a: 1, b: 1 }] })).toBeUndefined()
  })
})
