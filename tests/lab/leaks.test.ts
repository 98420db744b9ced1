import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { readPreview } from '../../src/data/index.ts'
import { runExperiment } from '../../src/lab/experiment/run-experiment.ts'
import { runMain } from '../cli/run-main.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { experimentProject, twoByTwo } from './experiment-project.ts'

const folder = temporaryFolders()
const slow = { timeout: 600_000 }
const base = twoByTwo.matrix.base_run

/** Eight of the twenty rows are questions of val. */
const repeated = 8

function leaking(leaks: string | undefined, more: object = {}): string {
  const { matrix: _matrix, ...rest } = twoByTwo
  const metadata = {
    objective: { metric: 'val.pass@1' },
    benchmark: [{ ...twoByTwo.metadata.benchmark[0], run_every: 0 }],
  }
  const run = { ...base, algorithm: { kind: 'sft', params: { max_steps: 3 } }, ...more }
  const file = experimentProject(folder(), { ...rest, leaks, metadata, n_repeats: 1, run })
  const tasks = Array.from({ length: repeated }, (_, i) => ({
    task_id: `known-${i}`,
    instruction: `Question ${i}!`,
    verifier: { kind: 'in_process', fn_name: 'exact_match', expected: 'mail' },
  }))
  appendFileSync(join(dirname(file), 'data/val/tasks.jsonl'), tasks.map((each) => `${JSON.stringify(each)}\n`).join(''))
  return file
}

const runFolderOf = (file: string) => {
  const runs = join(dirname(file), '.evsys/runs')
  return join(runs, readdirSync(runs)[0] ?? '')
}

describe('training rows that repeat questions', slow, () => {
  const dropping = leaking('drop')
  let result: Awaited<ReturnType<typeof runExperiment>>
  beforeAll(async () => {
    result = await runExperiment(dropping)
  }, slow.timeout)

  it('are left out with `leaks: drop`, and counted in lineage, conclusion and JSON (USE-223)', async () => {
    expect(result).toMatchObject({
      status: 'completed',
      leaks: [{ benchmark: 'val', rows: 20, exact: repeated, near: 0, dropped: true }],
      failures: [{ kind: 'leaked_rows', n: repeated, of: 20 }],
    })
    expect(result.leaks?.[0]?.pairs).toHaveLength(repeated)
    const sentence = `Training rows left out, since they repeat questions of a benchmark: ${repeated} of 20 (40 %) in 1 run.`
    expect(result.conclusion?.text).toContain(sentence)
    expect(readFileSync(join(runFolderOf(dropping), 'experiment.md'), 'utf8')).toContain(sentence)
    const run = join(runFolderOf(dropping), 'two-by-two')
    expect(await readPreview(run)).toMatchObject({
      rows: 20 - repeated,
      transforms: [
        { kind: 'jsonl_to_chat', rows: 20 },
        { kind: 'drop_leaks', rows: 20 - repeated },
      ],
    })
    const trained = readFileSync(join(run, 'logs/data/training_data.jsonl'), 'utf8')
    expect(trained).toContain('question 8"')
    expect(trained).not.toContain('question 7"')
    // Rows that were left out are part of what a run is known by.
    expect((await runExperiment(dropping)).runs?.[0]?.reused_from).toBeDefined()
  })

  it('are kept with `leaks: warn`, which makes other runs, and reported (USE-223)', async () => {
    const kept = await runExperiment(dropping, { set: ['leaks=warn'] })
    expect(kept.runs?.[0]?.reused_from).toBeUndefined()
    expect(kept.leaks).toMatchObject([{ exact: repeated, pairs: Array.from({ length: repeated }, () => ({})) }])
    expect(kept.leaks?.[0]?.dropped).toBeUndefined()
    expect(kept.conclusion?.text).toContain(`${repeated} of 20 training rows repeat questions of val`)
  })

  it('are left out again when the data of today are compared with the record (USE-480)', async () => {
    const repro = async () => {
      const { stdout } = await runMain(['repro', result.experiment_id, '--json'], { cwd: dirname(dropping) })
      return JSON.parse(stdout).checks.filter(({ part }: { part: string }) => part === 'data')
    }
    expect(await repro()).toMatchObject([{ part: 'data', status: 'same' }])
    const tasks = join(dirname(dropping), 'data/val/tasks.jsonl')
    writeFileSync(tasks, readFileSync(tasks, 'utf8').replaceAll('Question 7!', 'Another one'))
    expect(await repro()).toMatchObject([{ part: 'data', status: 'differs' }])
  })

  it('are refused otherwise, with all pairs in JSON (USE-223, USE-224)', async () => {
    const file = leaking('refuse')
    await expect(runExperiment(file)).rejects.toMatchObject({ code: 'DATA_LEAK' })
    for (const command of ['validate', 'run']) {
      const words = command === 'validate' ? ['validate', file, '--deep', '--json'] : ['run', file, '--json']
      const { code, stdout } = await runMain(words, { cwd: dirname(file) })
      const [error] = JSON.parse(stdout).errors
      expect([code, error.code, error.pairs.length], command).toEqual([2, 'DATA_LEAK', repeated])
    }
    const shallow = await runMain(['validate', file, '--json'], { cwd: dirname(file) })
    expect(shallow.code).toBe(0)
  })

  it('are listed by `validate --deep` where they are allowed (USE-224)', async () => {
    const file = leaking('drop')
    const { code, stdout } = await runMain(['validate', file, '--deep', '--json'], { cwd: dirname(file) })
    expect(code).toBe(0)
    const report = JSON.parse(stdout)
    expect(report.leaks).toMatchObject([{ exact: repeated, dropped: true }])
    expect(report.notices.map(({ text }: { text: string }) => text).join()).toContain('are left out')
  })

  it('`validate --deep` refuses a stored dataset whose bytes changed (USE-224)', async () => {
    const file = leaking('drop')
    const cwd = dirname(file)
    await runMain(['dataset', 'add', 'router', 'data/train.jsonl'], { cwd })
    const { matrix: _matrix, ...rest } = twoByTwo
    const data = { dataset_name: 'router', transforms: base.data.transforms }
    const run = { ...base, data, algorithm: { kind: 'sft', params: { max_steps: 3 } } }
    writeFileSync(
      file,
      stringify({ ...rest, metadata: { benchmark: twoByTwo.metadata.benchmark }, run, leaks: 'drop' }),
    )
    const check = () => runMain(['validate', file, '--deep', '--json'], { cwd })
    expect((await check()).code).toBe(0)
    const blobs = join(cwd, '.evsys/blobs')
    const blob = readdirSync(blobs, { recursive: true, withFileTypes: true }).find((each) => each.isFile())
    appendFileSync(join(blob?.parentPath ?? blobs, blob?.name ?? ''), '{"query": "x", "desk": "mail"}\n')
    const { code, stdout } = await check()
    expect(code).not.toBe(0)
    expect(JSON.parse(stdout).errors[0].code).toBe('BLOB_CORRUPT')
  })
})
