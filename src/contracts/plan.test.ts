import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryOf } from '../../tests/arbitrary-of.ts'
import { Experiment } from './experiment-file.ts'
import { Plan, ValidateReport } from './plan.ts'

const experiment = Experiment.parse({
  name: 'router-lr',
  runs: [{ name: 'sft', data: {}, model: { name: 'evsys/tiny' }, algorithm: { kind: 'sft' } }],
})
const arms = [{ name: 'sft', params: { 'algorithm.kind': 'sft' }, seeds: [42, 43], max_steps: 200 }]
const objective = { benchmark: 'val', metric: 'pass@1', direction: 'max' }
const notices = [{ text: '`eval` was read as metadata.benchmark', where: { file: 'e.yaml', line: 3, col: 1 } }]
const plan = {
  experiment,
  config_hash: 'c',
  objective,
  arms,
  runs: [42, 43].map((seed) => ({
    name: `sft__s${seed}`,
    arm: 'sft',
    seed,
    config: { ...experiment.runs[0], seed },
    config_hash: `c${seed}`,
  })),
  notices,
}
const report = {
  valid: true,
  file: 'e.yaml',
  deep: true,
  name: 'router-lr',
  config_hash: 'c',
  objective,
  n_runs: 2,
  arms,
  notices,
}

describe('a plan', () => {
  it('names the arms, and each run with its whole configuration (CON-5)', () => {
    expect(Plan.parse(plan)).toEqual(plan)
  })

  it('of a chain says which run a run starts from (CON-5)', () => {
    const [first, second] = plan.runs
    const runs = [
      { ...first, stage: 0 },
      { ...second, stage: 1, after: 'sft__s42' },
    ]
    expect(Plan.parse({ ...plan, runs })).toMatchObject({ runs })
  })

  it.each([
    { ...plan, runs: [] },
    { ...plan, arms: [] },
    { ...plan, cost: 1 },
    { ...plan, notices: ['text'] },
    { ...plan, objective: { metric: 'pass@1', direction: 'max' } },
  ])('refuses what is none: %# (CON-5)', (wrong) => {
    expect(Plan.safeParse(wrong).success).toBe(false)
  })

  it('comes back from JSON as it was (CON-5)', () => {
    fc.assert(
      fc.property(arbitraryOf(Plan), (written) => {
        const parsed = Plan.parse(written)
        expect(Plan.parse(JSON.parse(JSON.stringify(parsed)))).toEqual(parsed)
      }),
      { numRuns: 20 },
    )
  })
})

describe('the document of validate', () => {
  it('is about a valid file: an invalid one gives errors (CON-5)', () => {
    expect(ValidateReport.parse(report)).toEqual(report)
    expect(ValidateReport.safeParse({ ...report, valid: false }).success).toBe(false)
    expect(ValidateReport.safeParse({ ...report, warnings: [] }).success).toBe(false)
  })
})
