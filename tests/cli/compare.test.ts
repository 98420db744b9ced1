import { beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolders } from '../temporary-folder.ts'
import { recordExperiment } from './recorded.ts'
import { runMain } from './run-main.ts'

const cwd = temporaryFolders()()

beforeAll(async () => {
  await recordExperiment(cwd, { id: 'a', name: 'baseline', rates: [0.01], day: '2026-01-01' })
  await recordExperiment(cwd, { id: 'b', name: 'better', rates: [0.1], day: '2026-01-02' })
  await recordExperiment(cwd, { id: 'c', name: 'other-scorer', rates: [0.1], scorerHash: 'b'.repeat(64) })
  await recordExperiment(cwd, { id: 'd', name: 'one-seed', rates: [0.1], seeds: 1 })
  await recordExperiment(cwd, { id: 'e', name: 'broken', rates: [0.1], failing: [0.1] })
})

describe('compare', () => {
  it('sets experiments of one scorer side by side (CLI-15)', async () => {
    const { code, stdout, stderr } = await runMain(['compare', 'baseline', 'better'], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    await expect(stdout).toMatchFileSnapshot('golden/compare.txt')
  })

  it('compares by shared seeds, with an interval (CLI-15)', async () => {
    const { stdout } = await runMain(['compare', 'baseline', 'better', '--json'], { cwd })
    const { effects, refused, groups, differences } = JSON.parse(stdout)
    expect(refused).toEqual([])
    expect(groups.map(({ benchmark, metric }: Record<string, string>) => `${benchmark}.${metric}`)).toEqual([
      'val.pass@1',
      'test.pass@1',
    ])
    expect(effects[0]).toMatchObject({
      treatment: { experiment_id: 'exp_b' },
      baseline: { experiment_id: 'exp_a' },
      shared_seeds: 3,
    })
    expect(effects[0].effect).toBeCloseTo(0.4)
    expect(effects[0].interval[0]).toBeGreaterThan(0)
    expect(differences).toEqual([{ path: 'algorithm.params.learning_rate', values: [0.01, 0.1] }])
  })

  it('refuses to compare scores of different scorers, and says whose they are (CLI-15)', async () => {
    const { stdout } = await runMain(['compare', 'better', 'other-scorer'], { cwd })
    expect(stdout).toContain('not comparable: val was scored by different scorers')
    expect(stdout).toContain(`better: ${'a'.repeat(12)}, other-scorer: ${'b'.repeat(12)}`)
    const json = await runMain(['compare', 'better', 'other-scorer', '--json'], { cwd })
    const { effects, refused, groups } = JSON.parse(json.stdout)
    expect(effects).toEqual([])
    expect(refused.map(({ benchmark }: { benchmark: string }) => benchmark)).toEqual(['test', 'val'])
    for (const group of groups)
      expect(new Set(group.arms.map((arm: { experiment_id: string }) => arm.experiment_id)).size).toBe(1)
  })

  it('gives no interval to one seed (CLI-15, W5)', async () => {
    const { stdout } = await runMain(['compare', 'baseline', 'one-seed', '--json'], { cwd })
    expect(JSON.parse(stdout).effects[0]).toMatchObject({ interval: null, shared_seeds: 0 })
    expect((await runMain(['compare', 'baseline', 'one-seed'], { cwd })).stdout).toContain(
      'no interval: one seed says nothing about chance',
    )
  })

  it('shows what there is when an experiment has no scores (CLI-15)', async () => {
    const { code, stdout } = await runMain(['compare', 'baseline', 'broken', '--json'], { cwd })
    expect(code).toBe(0)
    expect(JSON.parse(stdout).effects).toEqual([])
    const both = await runMain(['compare', 'broken', 'exp_e'], { cwd })
    expect(both.code).toBe(2)
    expect(both.stderr).toContain('one experiment twice')
  })

  it.each([[['baseline']], [Array.from({ length: 21 }, () => 'baseline')]])(
    'takes two or more, and not hundreds: %j (CLI-3, CLI-15)',
    async (ids) => {
      const { code, stderr } = await runMain(['compare', ...ids], { cwd })
      expect(code).toBe(2)
      expect(stderr).toContain('compare takes 2 to 20 experiments')
    },
  )
})
