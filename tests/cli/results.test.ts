import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ExperimentResult } from '../../src/contracts/index.ts'
import { outputDirOf } from '../../src/record/experiment-folder.ts'
import { openStore } from '../../src/store/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { recordExperiment } from './recorded.ts'
import { runMain } from './run-main.ts'

const folder = temporaryFolders()

async function folderOf(cwd: string, reference: string): Promise<string> {
  await using store = await openStore(join(cwd, '.evsys', 'evsys.db'))
  return outputDirOf(await store.findExperiment(reference), cwd)
}

async function shown(cwd: string, reference: string) {
  return ExperimentResult.parse(JSON.parse((await runMain(['show', reference, '--json'], { cwd })).stdout))
}

describe('scores on test', () => {
  const testReward = (rate: number, seed: number, task: number) => (task < (rate >= 0.1 ? 6 - (seed % 2) : 2) ? 1 : 0)

  it('stand beside those that selected, wherever an experiment is read (USE-101)', async () => {
    const cwd = folder()
    await recordExperiment(cwd, { id: 'both1', name: 'both', minEffect: 0.05, testReward })
    const { arms, conclusion } = await shown(cwd, 'both')
    const [low, high] = arms
    expect(high?.scores?.map(({ benchmark, split, metric, selects }) => [benchmark, split, metric, selects])).toEqual([
      ['val', 'val', 'pass@1', true],
      ['test', 'test', 'pass@1', false],
    ])
    const [val, test] = high?.scores ?? []
    expect(val?.score).toEqual(high?.score)
    expect(test?.by_seed.map(({ value }) => value)).toEqual([0.6, 0.5, 0.6])
    expect(test?.score).toMatchObject({
      mean: expect.closeTo(0.5667, 3),
      n: 3,
      ci: [expect.any(Number), expect.any(Number)],
    })
    expect(low?.scores?.[1]?.score.mean).toBeCloseTo(0.2)
    expect(conclusion?.text).toMatch(
      /On test\.pass@1, which selected nothing: both__learning_rate0p1 0\.5667 \([\d.]+ to [\d.]+\), both__learning_rate0p01 0\.2/,
    )
    const { stdout } = await runMain(['show', 'both'], { cwd })
    expect(stdout).toMatch(/ARM +STATUS +val\.pass@1 +90 % INTERVAL +test\.pass@1 +90 % INTERVAL +SEEDS/)
    expect(stdout).toMatch(
      /learning_rate0p1 \* +completed +0\.7\d* +[\d.]+ to [\d.]+ +0\.5667 +[\d.]+ to [\d.]+ +3 of 3/,
    )
    expect(stdout).toContain('selected by val.pass@1; test.pass@1 of the selected checkpoints')
    const page = readFileSync(join(await folderOf(cwd, 'both'), 'experiment.md'), 'utf8')
    expect(page).toContain('| arm | val.pass@1 (val, selected) | test.pass@1 (test) |')
    expect(page).toMatch(/\| both__learning_rate0p1 \| 0\.7\d* \([^)]+\) \| 0\.5667 \([^)]+\) \|/)
    const { stdout: report } = await runMain(['export', 'both', '--html'], { cwd })
    expect(report).toContain('Scores on all benchmarks')
    expect(report).toMatch(/val, selected/)
    expect(report).toMatch(/0\.6, 0\.5, 0\.6/)
  })
})
