import { appendFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { runExperiment } from '../../src/lab/experiment/run-experiment.ts'
import { openStore } from '../../src/store/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { experimentProject, twoByTwo } from './experiment-project.ts'

const folder = temporaryFolders()
const slow = { timeout: 600_000 }

const { matrix } = twoByTwo
const [val] = twoByTwo.metadata.benchmark
/** Each experiment costs its processes: what is shown of one benchmark holds for two. */
const judged = { ...twoByTwo.metadata, benchmark: [{ ...val, num_samples: 1, run_every: 3 }] }
const small = {
  ...twoByTwo,
  metadata: judged,
  matrix: {
    ...matrix,
    base_run: { ...matrix.base_run, algorithm: { kind: 'sft', params: { max_steps: 6, save_every: 3 } } },
  },
}

const upper = (word: string) => `import { defineTransform, z } from 'evsys/plugin'
  export default defineTransform({ kind: 'mark', summary: 'Marks rows.', params: z.strictObject({}),
    async *run(rows) { for await (const row of rows) yield { ...row, ${word}: true } } })`

function marked(): { file: string; dir: string } {
  const dir = folder()
  const { base_run } = matrix
  const data = { ...base_run.data, transforms: [{ kind: 'mark', params: {} }, ...base_run.data.transforms] }
  const run = { ...base_run, data, algorithm: { kind: 'sft', params: { max_steps: 3 } } }
  const { matrix: _matrix, ...rest } = twoByTwo
  const metadata = { objective: { metric: 'val.pass@1' }, benchmark: [{ ...val, num_samples: 1, run_every: 0 }] }
  return { dir, file: experimentProject(dir, { ...rest, metadata, n_repeats: 1, run }, { 'mark.ts': upper('a') }) }
}

const origins = ({ runs = [] }: Awaited<ReturnType<typeof runExperiment>>) =>
  runs.map(({ reused_from }) => reused_from?.run_id)

describe('runs that the record holds', slow, () => {
  it('are not trained again: the same record comes out at no cost, linked to its origin, and its logs (USE-221, USE-485)', async () => {
    const file = experimentProject(folder(), small)
    const first = await runExperiment(file)
    const started: string[] = []
    const second = await runExperiment(file, {
      onItem: (row, item) => item.type === 'eval.started' && started.push(row.name),
    })
    expect(origins(second)).toEqual(first.runs?.map(({ run_id }) => run_id))
    expect(second.runs?.map(({ status, cost_usd, wall_s }) => ({ status, cost_usd, wall_s }))).toEqual(
      Array.from({ length: 4 }, () => ({ status: 'completed', cost_usd: 0, wall_s: 0 })),
    )
    expect(second.notices?.join('\n')).toContain(`reused from two-by-two/${first.runs?.[0]?.name}`)
    expect(second.cost_usd).toBe(0)
    await using store = await openStore(join(dirname(file), '.evsys/evsys.db'))
    expect(await store.canonicalRecord(second.experiment_id)).toEqual(await store.canonicalRecord(first.experiment_id))
    const files = ({ files: dir }: typeof first) =>
      readdirSync(dir ?? '', { recursive: true })
        .map(String)
        .toSorted()
    const logs = files(first).filter((path) => path.includes('/logs/'))
    expect(logs.filter((path) => path.endsWith('/training/metrics.jsonl'))).toHaveLength(4)
    expect(files(second).filter((path) => path.includes('/logs/'))).toEqual(logs)
    const answers = second.runs?.flatMap(({ scores }) => scores.map((score) => score.answers))
    expect(answers).toEqual(first.runs?.flatMap(({ scores }) => scores.map((score) => score.answers)))

    const fresh = await runExperiment(file, { fresh: true })
    expect(origins(fresh)).toEqual([undefined, undefined, undefined, undefined])
    expect(await store.canonicalRecord(fresh.experiment_id)).toEqual(await store.canonicalRecord(first.experiment_id))
  })

  it('serve the arms and seeds that they have; others are trained, and an invalid one is too (USE-222)', async () => {
    const file = experimentProject(folder(), small)
    const first = await runExperiment(file)
    const [taken, ...kept] = first.runs ?? []
    {
      await using store = await openStore(join(dirname(file), '.evsys/evsys.db'))
      await store.verdicts.invalidate(taken?.run_id ?? '', 'the rows were wrong')
    }
    const more = await runExperiment(file, { set: ['n_repeats=3'] })
    const byName = new Map(more.runs?.map((run) => [run.name, run.reused_from?.run_id]))
    expect(byName.get(taken?.name ?? '')).toBeUndefined()
    for (const { name, run_id } of kept) expect(byName.get(name)).toBe(run_id)
    expect([...byName.values()].filter((id) => id !== undefined)).toHaveLength(3)
    const seeds = await runExperiment(file, { set: ['base_seed=100', 'n_repeats=1'] })
    expect(origins(seeds).every((id) => id === undefined)).toBe(true)
  })

  it('are trained again where a plugin, the rows, a benchmark or how they are judged has changed (USE-222)', async () => {
    const { file, dir } = marked()
    await runExperiment(file)
    const reused = async (set: readonly string[] = []) =>
      origins(await runExperiment(file, { set })).filter((id) => id !== undefined).length
    expect(await reused()).toBe(1)
    expect(await reused(['metadata.benchmark.0.temperature=0.5'])).toBe(0)
    writeFileSync(join(dir, 'src/plugins/mark.ts'), upper('b'))
    expect(await reused()).toBe(0)
    expect(await reused()).toBe(1)
    appendFileSync(join(dir, 'data/train.jsonl'), '{"query": "one more", "desk": "mail"}\n')
    expect(await reused()).toBe(0)
    const task = {
      task_id: 'new',
      instruction: 'another question',
      verifier: { kind: 'in_process', fn_name: 'exact_match', expected: 'mail' },
    }
    appendFileSync(join(dir, 'data/val/tasks.jsonl'), `${JSON.stringify(task)}\n`)
    expect(await reused()).toBe(0)
    rmSync(join(dir, '.evsys/runs'), { recursive: true })
    expect(await reused()).toBe(0)
  })

  it('are no trials and no failed runs (USE-222)', async () => {
    const dir = folder()
    const file = experimentProject(dir, small)
    await runExperiment(file, { dry: true, set: ['n_repeats=1'] })
    const steps = ['algorithm.params.max_steps=2', 'n_repeats=1']
    expect(origins(await runExperiment(file, { set: steps })).every((id) => id === undefined)).toBe(true)
    const { matrix: own } = small
    const failing = { ...own, axes: { 'backend.params.fail_at_step': [1] } }
    const { claim: _claim, ...metadata } = small.metadata
    writeFileSync(file, stringify({ ...small, name: 'failing', metadata, n_repeats: 1, matrix: failing }))
    await runExperiment(file)
    expect(origins(await runExperiment(file))).toEqual([undefined])
  })
})
