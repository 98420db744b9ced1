import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryOf } from '../../tests/arbitrary-of.ts'
import { ArmResult, ExperimentResult, HistoryEntry, ImportResult, RunResult, Score } from './results.ts'

const score = { mean: 0.72, ci: [0.68, 0.76], n: 3 }
const arm = {
  name: 'focal',
  status: 'completed',
  params: { 'algorithm.kind': 'focal_sft' },
  seeds: [42, 43, 44],
  score,
}
const result = {
  experiment_id: 'exp_1',
  name: 'router-lr',
  status: 'completed',
  objective: { metric: 'val.pass@1', direction: 'max' },
  best_arm: 'focal',
  arms: [
    arm,
    { ...arm, name: 'sft', status: 'failed', score: null, error: { code: 'BACKEND_FAILED', message: 'gone' } },
  ],
  conclusion: { verdict: 'supported', text: 'Focal loss lifts pass@1 by 0.04.' },
  cost_usd: 0.12,
  wall_s: 63.5,
}
const entry = {
  experiment_id: 'exp_1',
  name: 'router-lr',
  created_at: '2026-01-02T03:04:05Z',
  hypothesis: 'Focal loss lifts pass@1.',
  verdict: 'supported',
  objective: { metric: 'val.pass@1', direction: 'max' },
  best: { arm: 'focal', score },
  status: 'completed',
  effect: null,
  words: [],
  tags: [],
  parent: null,
  conclusion: 'It does.',
  cost_usd: null,
}

describe('the documents under --json', () => {
  it('of run and show have exactly the promised fields (CON-5)', () => {
    expect(ExperimentResult.parse(result)).toEqual(result)
    expect(Object.keys(ExperimentResult.shape)).toEqual([
      'experiment_id',
      'name',
      'status',
      'interrupted',
      'created_at',
      'hypothesis',
      'description',
      'notes',
      'project_goal_id',
      'benchmarks',
      'objective',
      'best_arm',
      'arms',
      'runs',
      'tables',
      'mistakes',
      'curves',
      'baselines',
      'conclusion',
      'claim',
      'claims',
      'words',
      'tags',
      'parent',
      'notices',
      'failures',
      'judges',
      'guards',
      'reusable',
      'forecast',
      'power',
      'leaks',
      'data',
      'recipe_code',
      'engines',
      'files',
      'cost_usd',
      'wall_s',
    ])
    expect(Object.keys(ArmResult.shape)).toEqual([
      'name',
      'status',
      'params',
      'seeds',
      'tags',
      'score',
      'scores',
      'error',
    ])
    expect(Object.keys(Score.shape)).toEqual(['mean', 'ci', 'over', 'too_few', 'n'])
  })

  it('of history and import have exactly the promised fields (CON-5)', () => {
    expect(HistoryEntry.parse(entry)).toEqual(entry)
    expect(Object.keys(HistoryEntry.shape)).toEqual([
      'experiment_id',
      'name',
      'created_at',
      'status',
      'hypothesis',
      'verdict',
      'objective',
      'best',
      'effect',
      'conclusion',
      'words',
      'tags',
      'parent',
      'cost_usd',
    ])
    const imported = { experiment_id: 'exp_1', n_runs: 126, n_kept: 23 }
    expect(ImportResult.parse(imported)).toEqual(imported)
  })

  it.each(Object.keys(result))('always have %s; what is not known is null (CON-5)', (key) => {
    const rest = Object.fromEntries(Object.entries(result).filter(([each]) => each !== key))
    expect(ExperimentResult.safeParse(rest).success).toBe(false)
  })

  it('know a running experiment and a first one without objective (CON-5)', () => {
    const running = { ...result, status: 'running', objective: null, best_arm: null, conclusion: null, cost_usd: null }
    expect(ExperimentResult.parse({ ...running, arms: [{ ...arm, score: null }] })).toMatchObject({ conclusion: null })
  })

  it.each(['supported', 'refuted', 'inconclusive', 'exploratory', 'failed'])(
    'know the verdict %s (CON-5)',
    (verdict) => {
      expect(ExperimentResult.safeParse({ ...result, conclusion: { verdict, text: '' } }).success).toBe(true)
    },
  )

  it.each([
    { ...result, conclusion: { verdict: 'proven', text: '' } },
    { ...result, cost_usd: -1 },
    { ...result, wall_s: Number.NaN },
    { ...result, arms: [{ ...arm, score: { ...score, n: 0 } }] },
    { ...result, arms: [{ ...arm, score: { ...score, ci: [1] } }] },
    { ...result, arms: [{ ...arm, seeds: [-1] }] },
    { ...result, claimed_score: 1 },
    { ...result, arms: [{ ...arm, best: true }] },
  ])('refuse what is none of it: %# (CON-5)', (wrong) => {
    expect(ExperimentResult.safeParse(wrong).success).toBe(false)
  })

  it('have an interval only where there is spread to speak of (CON-5)', () => {
    expect(Score.parse({ mean: 1, ci: null, n: 1 })).toEqual({ mean: 1, ci: null, n: 1 })
  })

  it.each([
    ['ExperimentResult', ExperimentResult],
    ['HistoryEntry', HistoryEntry],
    ['ImportResult', ImportResult],
    ['RunResult', RunResult],
  ])('come back from JSON as they were: %s (CON-5)', (_name, schema) => {
    fc.assert(
      fc.property(arbitraryOf<typeof schema>(schema), (document) => {
        expect(schema.parse(JSON.parse(JSON.stringify(document)))).toEqual(document)
      }),
    )
  })
})
