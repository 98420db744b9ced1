// The life of an experiment as its user meets it: what is judged by, resumed, refused and done again.
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runExperiment } from '../../src/lab/experiment/run-experiment.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { experimentProject, twoByTwo } from './experiment-project.ts'

const folder = temporaryFolders()
const { matrix, ...rest } = twoByTwo
const run = { ...matrix.base_run, algorithm: { kind: 'sft', params: { max_steps: 3 } } }
const plain = { ...rest, metadata: {}, n_repeats: 1, run }

/** Whole experiments in several processes, from sources: on a busy machine each takes a while. */
describe('an objective on a training metric', { timeout: 300_000 }, () => {
  it('ranks the arms by what their runs ended with (USE-61)', async () => {
    const { claim } = twoByTwo.metadata
    const file = experimentProject(folder(), { ...twoByTwo, metadata: { success_metric: 'loss', claim } })
    const result = await runExperiment(file)
    expect(result).toMatchObject({
      objective: { metric: 'training.loss', direction: 'min' },
      best_arm: 'two-by-two__learning_rate0p1',
    })
    expect(result.arms.map(({ score }) => score?.n)).toEqual([2, 2])
    expect(result.conclusion?.text).toContain('on training.loss')
  })

  it('that no run reports is named in the conclusion (USE-61)', async () => {
    const file = experimentProject(folder(), { ...plain, metadata: { success_metric: 'los' } })
    const { conclusion, best_arm } = await runExperiment(file)
    expect(best_arm).toBeNull()
    expect(conclusion?.text).toContain('No arm is ranked: no run has training.los.')
  })
})

const places = `import { createReadStream, existsSync, appendFileSync } from 'node:fs'
  import { defineDataStore, defineInferenceClient, defineLogStore, z } from 'evsys/plugin'
  export const bucket = defineDataStore({ kind: 'bucket', summary: 'Files of a folder.',
    params: z.strictObject({ folder: z.string() }),
    open: async ({ params }) => ({
      read: (path) => createReadStream(params.folder + '/' + path),
      async write() {},
      exists: async (path) => existsSync(params.folder + '/' + path),
      async *list() {},
      async [Symbol.asyncDispose]() {},
    }) })
  export const lines = defineLogStore({ kind: 'lines', summary: 'Appends to a file.',
    params: z.strictObject({ file: z.string() }),
    open: async ({ params }) => {
      const add = async (...what) => appendFileSync(params.file, JSON.stringify(what) + '\\n')
      return {
        metrics: (step, split, metrics) => add('metrics', step, split, Object.keys(metrics)),
        hyperparams: (values) => add('hyperparams', values.name),
        artifact: (name, ref, kind) => add('artifact', name, kind),
        [Symbol.asyncDispose]: () => add('closed'),
      }
    } })
  export const echo = defineInferenceClient({ kind: 'echo', summary: 'Says one thing.',
    params: z.strictObject({ text: z.string() }),
    open: async ({ params }) => ({
      generate: async () => ({ text: params.text, stopReason: 'stop',
        usage: { promptTokens: 1, completionTokens: 1, latencyS: 0, costUsd: 0 } }),
    }) })`

describe('plugins that hold data, take logs and answer', { timeout: 300_000 }, () => {
  const [val] = twoByTwo.metadata.benchmark
  const metadata = { success_metric: 'val.pass@1', benchmark: [{ ...val, run_every: 0, num_samples: 1 }] }
  const project = (experiment: object) => experimentProject(folder(), experiment, { 'places.ts': places })

  it('`inference` of a benchmark answers instead of the trained checkpoint (USE-69)', async () => {
    const answering = (text: string) => ({
      ...metadata.benchmark[0],
      name: text,
      inference: { kind: 'echo', params: { text } },
    })
    const benchmark = ['refund', 'mail'].map(answering)
    const scores: Record<string, number | undefined> = {}
    const judged = { success_metric: 'refund.pass@1', benchmark }
    await runExperiment(project({ ...plain, metadata: judged }), {
      onItem(_row, item) {
        if (item.type === 'eval.finished') scores[item.benchmark] = item.metrics['pass@1']
      },
    })
    expect(scores).toEqual({ refund: 0.6, mail: 0.2 })
  })

  it('`data_store` is where rows are read from, for training and for benchmarks (USE-68)', async () => {
    const benchmark = [
      {
        ...metadata.benchmark[0],
        path: undefined,
        data: { path: 'val/tasks.jsonl' },
        inference: { kind: 'echo', params: { text: 'shop' } },
      },
    ]
    const data = { ...run.data, path: 'train.jsonl' }
    for (const kind of ['bucket', 'local']) {
      const experiment = { ...plain, metadata: { ...metadata, benchmark }, run: { ...run, data } }
      const dir = folder()
      const root = kind === 'local' ? { root: 'held/data' } : { folder: join(dir, 'held/data') }
      const file = experimentProject(
        dir,
        { ...experiment, data_store: { kind, params: root } },
        { 'places.ts': places },
      )
      mkdirSync(join(dir, 'held'))
      renameSync(join(dir, 'data'), join(dir, 'held/data')) // what is read by its path alone is not there
      const result = await runExperiment(file)
      expect(result).toMatchObject({ status: 'completed', arms: [{ score: { mean: 0.2 } }] })
      renameSync(join(dir, 'held/data/train.jsonl'), join(dir, 'held/data/other.jsonl'))
      await expect(runExperiment(file)).resolves.toMatchObject({
        status: 'failed',
        arms: [
          {
            error: {
              code: 'DATA_READ',
              message: expect.stringContaining(`the data store "${kind}" has no train.jsonl`),
            },
          },
        ],
      })
    }
  })

  it('`log_store` gets the configuration, the metrics and the checkpoints of a run (USE-70)', async () => {
    const dir = folder()
    const log = join(dir, 'log.jsonl')
    const file = experimentProject(
      dir,
      { ...plain, metadata, log_store: { kind: 'lines', params: { file: log } } },
      { 'places.ts': places },
    )
    // Into a file of the project, which a run in a sandbox cannot write.
    expect(await runExperiment(file, { sandbox: 'process' })).toMatchObject({ status: 'completed' })
    const entries = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line))
    expect(entries[0]).toEqual(['hyperparams', 'two-by-two'])
    for (const step of [0, 1, 2]) {
      expect(entries).toContainEqual(['metrics', step, 'train', expect.arrayContaining(['train_mean_nll'])])
    }
    expect(entries).toContainEqual(['metrics', 2, 'val', expect.arrayContaining(['val/pass@1'])])
    expect(entries).toContainEqual(['artifact', 'step_3', 'state'])
    expect(entries.at(-1)).toEqual(['closed'])
    expect(existsSync(join(dirname(file), '.evsys/runs'))).toBe(true)
  })
})
