// What an experiment does about its data, from the file to the result.
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { readPreview } from '../../src/data/index.ts'
import { runExperiment } from '../../src/lab/experiment/run-experiment.ts'
import { resultOf } from '../../src/record/evidence/evidence-of.ts'
import { openStore } from '../../src/store/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { experimentProject, twoByTwo } from './experiment-project.ts'

const folder = temporaryFolders()
const { matrix: _matrix, ...rest } = twoByTwo
const { base_run: baseRun } = twoByTwo.matrix
const run = { ...baseRun, algorithm: { kind: 'sft', params: { max_steps: 2 } } }
const metadata = { hypothesis: 'It runs.', objective: { metric: 'val.pass@1' } }
const [val] = twoByTwo.metadata.benchmark
const one = (benchmark: object = {}, changes: object = {}) => ({
  ...rest,
  n_repeats: 1,
  metadata: { ...metadata, benchmark: [{ ...val, run_every: 0, ...benchmark }] },
  run: { ...run, ...changes },
})
const leak = (file: string, instruction = 'Question 3!') => {
  const task = { task_id: 'known', instruction, verifier: { kind: 'in_process', fn_name: 'contains', expected: 'x' } }
  appendFileSync(join(dirname(file), 'data/val/tasks.jsonl'), `${JSON.stringify(task)}\n`)
  return file
}
const runsOf = (file: string) => {
  const root = join(dirname(file), '.evsys', 'runs')
  const [name = ''] = readdirSync(root)
  return join(root, name)
}

/** Whole experiments in several processes, from sources: on a busy machine each takes a while. */
describe('the data of an experiment', { timeout: 300_000 }, () => {
  it('that repeats a question of a benchmark is an error before any run starts, with both places, and leaves no experiment (DATA-4, USE-66)', async () => {
    const file = leak(experimentProject(folder(), one()))
    await expect(runExperiment(file)).rejects.toMatchObject({
      code: 'DATA_LEAK',
      message:
        '1 of 20 training rows repeat questions of benchmark "val" (1 exactly): data/train.jsonl:4 is task "known"',
      where: { file: 'data/train.jsonl', line: 4 },
      fix: expect.stringContaining('leaks: allow'),
    })
    expect(existsSync(join(dirname(file), '.evsys', 'runs'))).toBe(false)
    await using store = await openStore(join(dirname(file), '.evsys', 'evsys.db'))
    expect(await store.experiments({ limit: 10 })).toEqual([])
  })

  it('may repeat questions where the benchmark allows it, and the result tells of them (DATA-4)', async () => {
    const file = leak(experimentProject(folder(), one({ leaks: 'allow' })))
    const notices: string[] = []
    const result = await runExperiment(file, {
      onPlan: (plan) => notices.push(...plan.notices.map(({ text }) => text)),
    })
    const leaks = [
      {
        benchmark: 'val',
        arms: ['two-by-two'],
        rows: 20,
        exact: 1,
        near: 0,
        pairs: [{ place: 'data/train.jsonl:4', task_id: 'known', kind: 'exact', share: 1 }],
      },
    ]
    expect(result).toMatchObject({ status: 'completed', leaks })
    expect(notices).toContain('1 of 20 training rows repeat questions of val, which the experiment allows.')
    await using store = await openStore(join(dirname(file), '.evsys', 'evsys.db'))
    const [experiment] = await store.experiments({ limit: 1 })
    if (experiment === undefined) throw new Error('nothing was recorded')
    expect((await resultOf(store, experiment)).leaks).toEqual(leaks)
  })

  it('may repeat questions nearly where the benchmark allows that alone (DATA-4)', async () => {
    const question = 'Which desk answers a customer whose parcel was left in the rain on Monday?'
    const rows = [{ query: question.replace('Monday', 'Friday'), desk: 'mail' }]
    const data = { source_kind: 'in_memory', rows, transforms: baseRun.data.transforms }
    const near = leak(experimentProject(folder(), one({ leaks: 'allow_near' }, { data })), question)
    expect((await runExperiment(near)).leaks).toMatchObject([
      { exact: 0, near: 1, pairs: [{ place: 'rows[0]', task_id: 'known', kind: 'near' }] },
    ])
    const exact = leak(experimentProject(folder(), one({ leaks: 'allow_near' }, { data })), rows[0]?.query)
    await expect(runExperiment(exact)).rejects.toMatchObject({ code: 'DATA_LEAK' })
  })

  it('is compared also where a plugin of the project made it (DATA-4)', async () => {
    const plugin = `import { defineTransform, z } from 'evsys/plugin'
      export default defineTransform({ kind: 'louder', summary: 'Louder.', params: z.strictObject({}),
        async *run(rows) { for await (const row of rows) yield { ...row, query: row.query + ' please' } } })`
    const data = { ...baseRun.data, transforms: [{ kind: 'louder' }, ...baseRun.data.transforms] }
    const made = experimentProject(folder(), one({}, { data }), { 'louder.ts': plugin })
    await expect(runExperiment(leak(made, 'question 7 please'))).rejects.toMatchObject({
      code: 'DATA_LEAK',
      message: expect.stringContaining('data/train.jsonl:8 is task "known"'),
    })
  })

  const repeating = experimentProject(folder(), { ...one(), n_repeats: 2 })
  beforeAll(async () => {
    await runExperiment(repeating)
  }, 300_000)

  it('is kept as it was trained on: rows before and after, tokens with their weights (DATA-14)', async () => {
    const preview = await readPreview(join(runsOf(repeating), 'two-by-two__s42'))
    expect(preview).toMatchObject({
      rows: 20,
      source: { kind: 'jsonl', rows: 20 },
      transforms: [{ kind: 'jsonl_to_chat', rows: 20 }],
      before: [{ place: 'data/train.jsonl:1', row: { query: 'question 0', desk: 'refund' } }, {}, {}],
      after: [
        { place: 'data/train.jsonl:1', row: { messages: [{ role: 'user', content: 'question 0' }, {}] } },
        {},
        {},
      ],
    })
    const [example] = preview?.examples ?? []
    const trained = example?.text.filter((_, i) => example.weights[i] === 1).join('')
    expect(trained).toMatch(/^(refund|mail|shop)/)
    expect(example?.text.join('')).toContain('question ')
    expect(trained).not.toContain('question')
  })

  it('is read once for all its runs, and not again by the next experiment (DATA-1)', async () => {
    const file = repeating
    const cache = join(dirname(file), '.evsys', 'cache', 'datasets')
    const entries = readdirSync(cache)
    expect(entries).toHaveLength(1)
    const manifest = join(cache, entries[0] ?? '', 'manifest.json')
    const before = readFileSync(manifest, 'utf8')
    await runExperiment(file)
    expect([readdirSync(cache), readFileSync(manifest, 'utf8')]).toEqual([entries, before])
    writeFileSync(join(dirname(file), 'data/train.jsonl'), '{"query": "other", "desk": "mail"}\n')
    await runExperiment(file)
    expect(readdirSync(cache)).toHaveLength(2)
  })
})
