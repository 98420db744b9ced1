import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runExperiment } from '../../src/lab/experiment/run-experiment.ts'
import { runMain } from '../cli/run-main.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { experimentProject, twoByTwo } from './experiment-project.ts'

const folder = temporaryFolders()

const base = twoByTwo.matrix.base_run
const secret = 'hunter2-hunter2-hunter2'
const metrics = ['macro_f1', 'accuracy', 'per_class', 'confusion']
const [val, test] = twoByTwo.metadata.benchmark
const metadata = {
  hypothesis: 'A list of answers beats a short training.',
  objective: { metric: 'val.macro_f1' },
  claims: [
    { treatment: 'listed', baseline: 'trained', metric: 'val.accuracy' },
    { treatment: 'listed', baseline: 'trained', metric: 'test.macro_f1', min_effect: 0.1 },
  ],
  benchmark: [
    { ...val, run_every: 2, num_samples: 1, metrics },
    { ...test, num_samples: 1, metrics },
  ],
}

/** An arm of answers that were made elsewhere beside one that is trained. Wrong answers hold markup and a secret. */
async function reported() {
  const dir = folder()
  const runs = [
    { ...base, name: 'trained', algorithm: { kind: 'sft', params: { max_steps: 6 } } },
    {
      model: base.model,
      backend: base.backend,
      name: 'listed',
      algorithm: { kind: 'score_only' },
      agent: { kind: 'predictions', params: { path: 'listed.csv' } },
    },
  ]
  const file = experimentProject(dir, { name: 'desks', metadata, runs })
  const rows = ['val', 'test'].flatMap((part) => [
    [`${part}-0`, 'refund'],
    [`${part}-1`, 'refund'],
    [`${part}-2`, `<script>alert(1)</script> ${secret}`],
    [`${part}-3`, 'mail'],
    [`${part}-4`, 'refund'],
  ])
  writeFileSync(join(dir, 'listed.csv'), `task_id,answer\n${rows.map((row) => row.join(',')).join('\n')}\n`)
  writeFileSync(join(dir, '.env'), `SERVICE_TOKEN=${secret}\n`)
  return { dir, file, result: await runExperiment(file, { projectDir: dir }) }
}

describe('what is reported of an experiment', { timeout: 300_000 }, () => {
  it('holds all benchmarks, classes, mistakes, curves and claims, in JSON, on the page and in HTML (USE-228)', async () => {
    const { dir, file, result } = await reported()
    expect(result.status).toBe('completed')
    const table = (metric: string, arm: string, benchmark: string) =>
      result.tables?.find((each) => each.metric === metric && each.arm === arm && each.benchmark === benchmark)?.table
    // Of five tasks, two of the answers are wrong: one is no class, one is another.
    expect(table('confusion', 'listed', 'val')).toMatchObject({
      rows: ['mail', 'refund', 'shop'],
      cells: [
        [1, 0, 0, 0, 0],
        [0, 2, 0, 1, 0],
        [0, 1, 0, 0, 0],
      ],
    })
    expect(table('per_class', 'trained', 'test')?.columns).toEqual(['precision', 'recall', 'f1', 'support'])
    expect(result.mistakes?.map(({ benchmark, task_id, expected }) => [benchmark, task_id, expected])).toEqual([
      ['test', 'test-2', 'refund'],
      ['test', 'test-4', 'shop'],
      ['val', 'val-2', 'refund'],
      ['val', 'val-4', 'shop'],
    ])
    expect(result.mistakes?.[0]).toMatchObject({
      arm: 'listed',
      instruction: 'question of test 2',
      answer: '<script>alert(1)</script> [secret:SERVICE_TOKEN]',
      n_wrong: 1,
      n_answers: 1,
    })
    expect(result.curves?.map(({ split, metric, points }) => [split, metric, points.length])).toEqual([
      ['train', 'train_mean_nll', 6],
      ['val', 'val.macro_f1', 3],
    ])
    const shown = await runMain(['show', 'desks', '--json'], { cwd: dir })
    const { tables, mistakes, curves, claims } = JSON.parse(shown.stdout)
    expect({ tables, mistakes, curves }).toEqual({
      tables: result.tables,
      mistakes: result.mistakes,
      curves: result.curves,
    })
    expect(claims).toHaveLength(2)

    const runs = join(dirname(file), '.evsys/runs')
    const page = readFileSync(join(runs, readdirSync(runs)[0] ?? '', 'experiment.md'), 'utf8')
    expect(page).toContain('| claim | treatment | baseline | metric | effect | interval | p | adjusted p | verdict |')
    expect(page).toContain('listed on val (val): per_class.')
    expect(page).toContain('| expected | mail | refund | shop |')
    expect(page).toMatch(/\| trained \| train \| train_mean_nll \| [\d.]+ \(step 1\) \| [\d.]+ \(step 6\) \|/)
    // Expected answers are kept from recipe code, which may read the page.
    expect(page).not.toContain('question of test 2')
    const place = /^Wrong answers with their texts: (.+)$/m.exec(page)?.[1] ?? ''
    const wrong = readFileSync(join(runs, readdirSync(runs)[0] ?? '', place), 'utf8')
    expect(wrong).toContain('question of test 2')
    expect(wrong).toContain('[secret:SERVICE_TOKEN]')
    expect(wrong + page + shown.stdout).not.toContain(secret)

    const { stdout: html } = await runMain(['export', 'desks', '--html'], { cwd: dir })
    for (const section of ['claim', 'arms', 'scores', 'curves', 'classes', 'mistakes', 'runs', 'reproduce']) {
      expect(html, section).toContain(`<section id="${section}"`)
    }
    expect(html).toContain('adjusted p')
    expect(html).toContain('&#60;script&#62;alert(1)&#60;/script&#62; [secret:SERVICE_TOKEN]')
    expect(html).not.toContain('<script')
    expect(html).not.toContain(secret)
    expect(html).not.toMatch(/(?:src|href)="(?!#|data:)/)
  })
})

describe('answers that are kept', { timeout: 300_000 }, () => {
  it('of `eval` hold instruction, expected answer and reward (USE-227)', async () => {
    const dir = folder()
    experimentProject(dir, { name: 'none', metadata, run: base })
    writeFileSync(join(dir, 'listed.csv'), 'task_id,answer\nval-0,refund\nval-1,mail\n')
    const args = ['eval', join(dir, 'listed.csv'), '--benchmark', 'data/val', '--metric', 'pass@1', '--json']
    const { answers } = JSON.parse((await runMain(args, { cwd: dir })).stdout)
    const lines = readFileSync(join(dir, answers), 'utf8').trim().split('\n')
    expect(lines.map((line) => JSON.parse(line)).slice(0, 2)).toMatchObject([
      { task_id: 'val-0', instruction: 'question of val 0', expected: 'refund', reward: 1, output: 'refund' },
      { task_id: 'val-1', instruction: 'question of val 1', expected: 'refund', reward: 0, output: 'mail' },
    ])
    const gone = await runMain(['gc', '--before', '2100-01-01', '--json'], { cwd: dir })
    expect(JSON.parse(gone.stdout).answer_files).toBe(1)
    expect(existsSync(join(dir, answers))).toBe(false)
  })

  it('of runs are those of the selected checkpoints, once `gc` has dropped the others (USE-227)', async () => {
    const dir = folder()
    const run = { ...base, name: 'trained', algorithm: { kind: 'sft', params: { max_steps: 6, save_every: 2 } } }
    const { claims: _claims, ...unclaimed } = metadata
    const { runs = [] } = await runExperiment(experimentProject(dir, { name: 'desks', metadata: unclaimed, run }))
    const selected = runs.flatMap(({ scores }) => scores.flatMap(({ answers }) => answers ?? []))
    expect(selected).toHaveLength(2)
    const all = () =>
      readdirSync(join(dir, '.evsys/answers'), { recursive: true, encoding: 'utf8' }).filter((path) =>
        path.endsWith('.jsonl'),
      )
    expect(all().length).toBeGreaterThan(2)
    expect(
      JSON.parse((await runMain(['gc', '--before', '2000-01-01', '--json'], { cwd: dir })).stdout).answer_files,
    ).toBe(0)
    const dropped = await runMain(['gc', '--before', '2100-01-01', '--json'], { cwd: dir })
    expect(JSON.parse(dropped.stdout).answer_files).toBeGreaterThan(0)
    expect(
      all()
        .map((path) => join(dir, '.evsys/answers', path))
        .sort(),
    ).toEqual(selected.toSorted())
  })
})
