// Weights that truly chain: continual datasets and stages.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runExperiment } from '../../src/lab/experiment/run-experiment.ts'
import { openStore } from '../../src/store/index.ts'
import { experimentProject, twoByTwo } from '../lab/experiment-project.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()
const { matrix, ...rest } = twoByTwo
const { data, ...run } = matrix.base_run
const algorithm = { kind: 'sft', params: { max_steps: 15, learning_rate: 0.1 } }
const metadata = { ...rest.metadata, claim: undefined }

/** The witness writes into the project. */
const open = { sandbox: 'process' } as const

/** Writes down the weights that it starts from, by what they answer. */
const witness = `import { appendFileSync } from 'node:fs'
import { defineAlgorithm, z } from 'evsys/plugin'
export default defineAlgorithm({ kind: 'witness', summary: 'Tells its start.', params: z.strictObject({ file: z.string(), max_steps: z.int().default(1) }),
  async buildBatch({ reference, service, renderer, params, step }) {
    const prompt = renderer.prompt([{ role: 'user', content: 'question 1' }])
    const [drawn] = await service.sample({ model: reference, prompt, numSamples: 1, maxTokens: 12, temperature: 0, seed: 1, stop: renderer.stop })
    appendFileSync(params.file, JSON.stringify({ step, answer: renderer.parse(drawn.tokens).message.content }) + '\\n')
    const weights = { data: new Float32Array(drawn.tokens.length), shape: [drawn.tokens.length] }
    const target_tokens = { data: drawn.tokens, shape: [drawn.tokens.length] }
    return { data: [{ tokens: drawn.tokens, lossInputs: { target_tokens, weights } }], loss: { name: 'cross_entropy' } }
  } })`

async function recordOf(file: string, experimentId: string) {
  await using store = await openStore(join(dirname(file), '.evsys/evsys.db'))
  const runs = await store.runs(experimentId)
  return await Promise.all(
    runs.map(async (each) => {
      const [first] = await store.curve({ runId: each.id, key: 'train_mean_nll', maxPoints: 1_000 })
      return { ...each, firstLoss: first?.mean ?? Number.NaN }
    }),
  )
}

describe('a chain', { timeout: 300_000 }, () => {
  it('W10: continual datasets go on from the weights of the one before, seed by seed (LAB-23)', async () => {
    const file = experimentProject(folder(), {
      ...rest,
      metadata,
      run: { ...run, name: 'chain', algorithm },
      continual: { datasets: [data, data] },
    })
    const { status, experiment_id } = await runExperiment(file)
    expect(status).toBe('completed')
    const runs = await recordOf(file, experiment_id)
    expect(runs.map(({ name, stage }) => [name, stage])).toEqual([
      ['chain_stage0__s42', 0],
      ['chain_stage1__s42', 1],
      ['chain_stage0__s43', 0],
      ['chain_stage1__s43', 1],
    ])
    for (const [first, second] of [runs.slice(0, 2), runs.slice(2)]) {
      expect(second?.afterRun).toBe(first?.id)
      expect(second?.firstLoss).toBeLessThan((first?.firstLoss ?? 0) / 2)
    }
  })

  it('W10: the phases of a combo go on from each other’s weights, in one run beside other recipes (PLG-23)', async () => {
    const phase = { kind: 'sft', params: { max_steps: 10, learning_rate: 0.1 } }
    const combo = { kind: 'combo', params: { phases: [phase, { ...phase, name: 'more' }] } }
    const file = experimentProject(folder(), {
      ...rest,
      metadata,
      n_repeats: 1,
      runs: [
        { ...run, data, name: 'both', algorithm: combo },
        { ...run, data, name: 'one', algorithm },
      ],
    })
    const { status, arms, experiment_id } = await runExperiment(file)
    expect([status, arms.map((arm) => arm.status)]).toEqual(['completed', ['completed', 'completed']])
    await using store = await openStore(join(dirname(file), '.evsys/evsys.db'))
    const [both] = await store.runs(experiment_id)
    const curve = async (key: string) => store.curve({ runId: both?.id ?? '', key, maxPoints: 1_000 })
    const [first, more] = [await curve('sft/train_mean_nll'), await curve('more/train_mean_nll')]
    expect([first.length, more.length]).toEqual([10, 10])
    expect(more[0]?.mean).toBeLessThan((first[0]?.mean ?? 0) / 2)
  })

  it('tells what a chain of datasets lost, beside one arm that trained on all at once (LAB-59)', async () => {
    const answering = (desk: string) => ({
      source_kind: 'in_memory',
      rows: Array.from({ length: 8 }, (_, i) => ({
        messages: [
          { role: 'user', content: `question of ${desk} ${i}` },
          { role: 'assistant', content: desk },
        ],
      })),
    })
    const benchmark = rest.metadata.benchmark.map((each) => ({ ...each, split: 'val', run_every: 0, temperature: 0 }))
    const file = experimentProject(folder(), {
      ...rest,
      metadata: { ...metadata, benchmark },
      n_repeats: 1,
      run: { ...run, name: 'desks', algorithm: { kind: 'sft', params: { max_steps: 25, learning_rate: 0.2 } } },
      continual: { datasets: [answering('refund'), answering('shop')], mix: true },
    })
    const { conclusion, arms } = await runExperiment(file, open)
    expect(arms.map(({ name, status }) => [name, status])).toEqual([
      ['desks_stage0', 'completed'],
      ['desks_stage1', 'completed'],
      ['desks_mix', 'completed'],
    ])
    expect(conclusion?.text).toMatch(/After 2 datasets in order: val\.pass@1 .*on the mix/)
    const [page] = readdirSync(join(dirname(file), '.evsys/runs'), { recursive: true, encoding: 'utf8' }).filter(
      (path) => path.endsWith('experiment.md'),
    )
    const text = readFileSync(join(dirname(file), '.evsys/runs', page ?? ''), 'utf8')
    expect(text).toMatch(/\| after \| val\.pass@1 \| test\.pass@1 \|/)
    expect(text).toMatch(/\| desks_stage0 \| 0\.6 \|/)
    expect(text).toMatch(/\| lost since the best \|/)
    expect(text).toMatch(/\| desks_mix \(all at once\) \|/)
  })

  it('W10: a stage knows the weights that it starts from; after a failed one no later stage starts from others (LAB-23, LAB-52)', async () => {
    const dir = folder()
    const seen = join(dir, 'seen.jsonl')
    const looking = { algorithm: { kind: 'witness', params: { file: seen } }, data }
    const unusable = { source_kind: 'in_memory', rows: [{ messages: [{ role: 'user', content: 'no answer' }] }] }
    const file = experimentProject(
      dir,
      {
        ...rest,
        metadata,
        n_repeats: 1,
        run: { ...run, name: 'chain', algorithm, data },
        stages: [looking, { algorithm }, looking, { algorithm, data: unusable }, looking],
      },
      { 'witness.ts': witness },
    )
    const { experiment_id } = await runExperiment(file, open)
    const runs = await recordOf(file, experiment_id)
    expect(runs.map(({ status, error }) => [status, error?.code])).toEqual([
      ['completed', undefined],
      ['completed', undefined],
      ['completed', undefined],
      ['failed', 'DATA_INVALID'],
      ['cancelled', 'BACKEND_FAILED'],
    ])
    const [before, after] = readFileSync(seen, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(after.answer).toBe('refund')
    expect(before.answer).not.toBe('refund')
  })
})
