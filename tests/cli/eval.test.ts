// Scoring outside of experiments, by way of the command line: named benchmarks, models, stored answers before a newer scorer.
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { experimentProject, twoByTwo } from '../lab/experiment-project.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { runMain } from './run-main.ts'

const folder = temporaryFolders()

function project(): string {
  const dir = folder()
  mkdirSync(join(dir, '.evsys'), { recursive: true })
  mkdirSync(join(dir, 'bench'))
  writeTasks(dir, ['yes', 'no', 'Maybe'])
  return dir
}

function writeTasks(dir: string, expected: readonly string[]): void {
  const tasks = expected.map((text, i) => ({
    task_id: `t${i}`,
    instruction: ['yes', 'no', 'maybe'][i],
    verifier: { kind: 'in_process', fn_name: 'exact_match', expected: text },
  }))
  writeFileSync(join(dir, 'bench', 'tasks.jsonl'), tasks.map((task) => `${JSON.stringify(task)}\n`).join(''))
}

async function json(dir: string, ...args: string[]) {
  const { stdout, stderr, code } = await runMain([...args, '--json'], { cwd: dir })
  expect(stderr + stdout).not.toBe('')
  return { code, document: JSON.parse(stdout) }
}

describe('benchmark and eval', { timeout: 240_000 }, () => {
  it('a folder becomes a named version once; the same tasks again change nothing (EVL-9)', async () => {
    const dir = project()
    const first = await json(dir, 'benchmark', 'upload', 'bench', '--name', 'answers')
    expect(first).toMatchObject({ code: 0, document: { benchmark_id: 'answers@1', status: 'created', n_tasks: 3 } })
    expect((await json(dir, 'benchmark', 'upload', 'bench', '--name', 'answers')).document.status).toBe('unchanged')
    writeTasks(dir, ['yes', 'no', 'maybe'])
    expect((await json(dir, 'benchmark', 'upload', 'bench', '--name', 'answers')).document).toMatchObject({
      benchmark_id: 'answers@2',
      status: 'updated',
    })
    const newest = await json(dir, 'benchmark', 'run', '--name', 'answers', '--model', 'mock:echo')
    const old = await json(dir, 'benchmark', 'run', '--id', 'answers@1', '--model', 'mock:echo')
    expect(newest.document.metrics).toEqual({ mean_reward: 1, pass_rate: 1 })
    expect(old.document.metrics.pass_rate).toBeCloseTo(2 / 3)
    expect(newest.document.scorer_hash).not.toBe(old.document.scorer_hash)
    const { code, stdout } = await runMain(['benchmark', 'upload', 'bench', '--name', 'answers'], { cwd: dir })
    expect(code).toBe(0)
    expect(stdout).toContain('no server to upload to')
  })

  it('a score has an interval, counts its looks, and its answers can be scored anew (EVL-9)', async () => {
    const dir = project()
    const args = ['eval', 'mock:echo', '--benchmark', 'bench', '--metric', 'pass@1']
    const first = await json(dir, ...args)
    expect(first).toMatchObject({
      code: 0,
      document: { model: 'mock:echo', benchmark: { looks: 1, split: 'test' }, n_tasks: 3 },
    })
    expect(first.document.intervals['pass@1']).toHaveLength(2)
    expect((await json(dir, ...args)).document.benchmark.looks).toBe(2)
    const same = await json(dir, 'rescore', first.document.eval_id)
    expect(same.document.evals).toMatchObject([{ status: 'same' }])
    writeTasks(dir, ['yes', 'no', 'maybe'])
    const { document } = await json(dir, 'rescore', first.document.eval_id)
    expect(document.evals).toMatchObject([{ status: 'rescored', after: { metrics: { 'pass@1': 1 } } }])
  })

  it('what cannot be scored is told before anything is asked (EVL-9)', async () => {
    const dir = project()
    expect(await json(dir, 'eval', 'mock:echo', '--benchmark', 'none')).toMatchObject({
      code: 2,
      document: { errors: [{ code: 'DATA_READ' }] },
    })
    expect(await json(dir, 'eval', 'nobody', '--benchmark', 'bench')).toMatchObject({
      code: 2,
      document: { errors: [{ code: 'CONFIG_INVALID' }] },
    })
    expect(await json(dir, 'benchmark', 'run', '--path', 'bench')).toMatchObject({
      code: 2,
      document: { errors: [{ code: 'CLI_USAGE' }] },
    })
    expect(await json(dir, 'rescore', 'eval_none')).toMatchObject({
      code: 2,
      document: { errors: [{ code: 'STORE_MISSING' }] },
    })
  })
})

describe('eval of a run', { timeout: 240_000 }, () => {
  it('its best checkpoint, sampled later, answers as it did in its own evaluation (EVL-9)', async () => {
    const dir = folder()
    const [, test] = twoByTwo.metadata.benchmark
    const file = experimentProject(dir, {
      name: 'later',
      metadata: { benchmark: [{ ...test, num_samples: 1, temperature: 0, max_tokens: 8 }] },
      run: {
        ...twoByTwo.matrix.base_run,
        name: 'one',
        backend: { kind: 'local', params: { engine: 'mock' } },
        algorithm: { kind: 'sft', params: { max_steps: 20, learning_rate: 0.1 } },
      },
    })
    const ran = await json(dir, 'run', file)
    expect(ran.code).toBe(0)
    const options = ['--benchmark', 'data/test', '--metric', 'pass@1', '--max-tokens', '8']
    const { code, document } = await json(dir, 'eval', 'later/one', ...options)
    expect(document).toMatchObject({ model: 'one at step 19', n_infra_failed: 0 })
    expect(code).toBe(0)
    const [run] = readdirSync(join(dir, '.evsys/runs'))
    const answers = (path: string) =>
      readFileSync(path, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).output)
    const then = answers(join(dir, '.evsys/runs', run ?? '', 'predictions/one/test-final.jsonl'))
    expect(answers(join(dir, '.evsys/evals', `${document.eval_id}.predictions.jsonl`))).toEqual(then)
    const base = await json(dir, 'eval', 'later/one', ...options, '--step', '99')
    expect(base).toMatchObject({ code: 2, document: { errors: [{ code: 'STORE_MISSING' }] } })
  })
})

describe('rescore of an experiment', { timeout: 240_000 }, () => {
  it('stored answers of every run before a newer verifier; kept, the conclusion follows (EVL-9)', async () => {
    const dir = folder()
    const [, test] = twoByTwo.metadata.benchmark
    const file = experimentProject(dir, {
      name: 'again',
      metadata: { benchmark: [{ ...test, split: 'val' }], objective: { metric: 'test.pass@1' } },
      run: { ...twoByTwo.matrix.base_run, name: 'one', algorithm: { kind: 'sft', params: { max_steps: 3 } } },
    })
    const ran = await json(dir, 'run', file)
    expect(ran.code).toBe(0)
    expect((await json(dir, 'rescore', 'again')).document.evals).toMatchObject([{ status: 'same' }])
    const tasks = join(dir, 'data/test/tasks.jsonl')
    writeFileSync(
      tasks,
      readFileSync(tasks, 'utf8')
        .replaceAll('"exact_match"', '"regex_match"')
        .replaceAll(/"expected":"\w+"/g, '"expected":""'),
    )
    const looked = await json(dir, 'rescore', 'again')
    expect(looked.document).toMatchObject({
      kept: false,
      evals: [{ status: 'rescored', after: { metrics: { 'pass@1': 1 } } }],
    })
    expect((await json(dir, 'show', 'again')).document.arms[0].score.mean).toBe(ran.document.arms[0].score.mean)
    const kept = await json(dir, 'rescore', 'again', '--keep')
    expect(kept.document.kept).toBe(true)
    expect((await json(dir, 'show', 'again')).document.arms[0].score.mean).toBe(1)
    expect((await json(dir, 'rescore', 'again')).document.evals).toMatchObject([{ status: 'same' }])

    const [stamp = ''] = readdirSync(join(dir, '.evsys/runs'))
    appendFileSync(join(dir, '.evsys/runs', stamp, 'predictions/one/test-final.jsonl'), '\n')
    writeFileSync(tasks, readFileSync(tasks, 'utf8').replaceAll('"regex_match"', '"exact_match"'))
    const changed = await json(dir, 'rescore', 'again')
    expect(changed.document.evals).toMatchObject([
      { status: 'failed', message: expect.stringContaining('does not hold the answers that were scored') },
    ])
  })
})
