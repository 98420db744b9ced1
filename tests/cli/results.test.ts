import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { ExperimentResult, HistoryEntry, RunResult, ScoredAnswer } from '../../src/contracts/index.ts'
import { outputDirOf } from '../../src/record/files/experiment-folder.ts'
import { openStore } from '../../src/store/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { recordExperiment } from './recorded.ts'
import { runMain } from './run-main.ts'
import { writeSmallLab } from './small-lab.ts'

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
    expect(report).not.toContain('Both__') // a name keeps its letters, also where a sentence begins with it
    expect(report).toMatch(/>selected<\/span>/)
    expect(report).toMatch(/0\.6, 0\.5, 0\.6/)
  })
})

describe('the JSON of an experiment', () => {
  it('holds all that its text says (USE-102, USE-104)', async () => {
    const cwd = folder()
    const hypothesis = 'A higher rate helps.'
    await recordExperiment(cwd, { id: 'json1', name: 'whole', minEffect: 0.05, hypothesis, tags: ['rates'] })
    await runMain(['conclude', 'whole', 'Holds.', '--author', 'ada'], { cwd })
    const result = await shown(cwd, 'whole')
    expect(result).toMatchObject({
      hypothesis,
      tags: ['rates'],
      parent: null,
      notices: [],
      created_at: expect.any(String),
    })
    expect(result.words).toMatchObject([{ author: 'ada', text: 'Holds.' }])
    expect(result.claim?.overall).toMatchObject({ effect: expect.closeTo(0.4, 6), verdict: 'supported', n_seeds: 3 })
    expect(result.files).toBe(await folderOf(cwd, 'whole'))
    expect(result.runs).toHaveLength(6)
    const [run] = result.runs ?? []
    expect(run).toMatchObject({ run_id: 'run_json101', status: 'completed', steps: 10, best_step: 9, wall_s: 5 })
    expect(run?.files).toBe(join(result.files ?? '', run?.name ?? ''))
    expect(run?.scores.map(({ benchmark, split, metrics }) => [benchmark, split, metrics])).toEqual([
      ['test', 'test', { 'pass@1': expect.any(Number) }],
      ['val', 'val', { 'pass@1': expect.any(Number) }],
    ])
    const artifacts = [{ name: 'step_10', kind: 'state', ref: `mock:///${run?.name}/state` }]
    expect(run?.artifacts).toEqual(artifacts)
    const written: unknown = JSON.parse(readFileSync(join(run?.files ?? '', 'run_result.json'), 'utf8'))
    expect(RunResult.parse(written).artifacts).toEqual(artifacts)

    const [entry] = z.array(HistoryEntry).parse(JSON.parse((await runMain(['history', '--json'], { cwd })).stdout))
    expect(entry).toMatchObject({ status: 'completed', tags: ['rates'], parent: null })
    expect(entry?.words).toMatchObject([{ author: 'ada', text: 'Holds.' }])
    expect(entry?.effect).toMatchObject({
      benchmark: 'val',
      metric: 'pass@1',
      effect: expect.closeTo(0.4, 6),
      n_seeds: 3,
    })
  })

  it('says of one that was interrupted that it was (USE-102)', async () => {
    const cwd = folder()
    await recordExperiment(cwd, { id: 'cut1', name: 'cut', unfinished: true })
    expect(await shown(cwd, 'cut')).toMatchObject({ interrupted: true, conclusion: null })
    const [entry] = z.array(HistoryEntry).parse(JSON.parse((await runMain(['history', '--json'], { cwd })).stdout))
    expect(entry?.status).toBe('interrupted')
  })

  it('names the answers with what was asked, expected and earned (USE-103)', { timeout: 120_000 }, async () => {
    const cwd = folder()
    const callbacks = [{ kind: 'local_logger' }]
    writeSmallLab(cwd, { file: { n_repeats: 1, callbacks }, axes: { 'algorithm.params.learning_rate': [0.001, 0.3] } })
    const { stdout, stderr } = await runMain(['run', 'config.yaml', '--json'], { cwd })
    const result = ExperimentResult.parse(JSON.parse(stdout || '{}'), { error: () => stderr })
    const run = result.runs?.[1]
    const file = run?.scores[0]?.answers ?? ''
    expect(file).toContain(join('.evsys', 'answers'))
    const answers = linesOf(file).map((line) => ScoredAnswer.parse(line))
    expect(answers).toHaveLength(6)
    expect(answers[0]).toMatchObject({ task_id: 'task-1', sample: 0, instruction: 'Was it red?', expected: 'yes' })
    for (const { output, reward } of answers) expect(reward).toBe(output?.trim() === 'yes' ? 1 : 0)
    const rollouts = linesOf(join(run?.files ?? '', 'logs/validation/rollouts.jsonl'))
    expect(rollouts[0]).toMatchObject({ task_id: 'task-1', instruction: 'Was it red?', reward: expect.any(Number) })
    expect(rollouts[0]).not.toHaveProperty('expected')
  })
})

function linesOf(file: string): unknown[] {
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return lines.map((line): unknown => JSON.parse(line))
}
