import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { runExperiment } from '../../src/lab/experiment/run-experiment.ts'
import { openStore } from '../../src/store/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { experimentProject, twoByTwo } from './experiment-project.ts'

const folder = temporaryFolders()

/** Whole experiments in several processes, from sources: on a busy machine each takes a while. */
describe('an experiment', { timeout: 300_000 }, () => {
  const file = experimentProject(folder(), twoByTwo)
  let result: Awaited<ReturnType<typeof runExperiment>>
  beforeAll(async () => {
    result = await runExperiment(file)
  }, 300_000)

  it('goes from a file to a verdict, with a record and files (LAB-20)', async () => {
    expect(result).toMatchObject({ status: 'completed', best_arm: 'two-by-two__learning_rate0p1' })
    expect(result.arms.map(({ name, status, score }) => [name, status, score?.n])).toEqual([
      ['two-by-two__learning_rate0p001', 'completed', 2],
      ['two-by-two__learning_rate0p1', 'completed', 2],
    ])
    expect(result.conclusion?.text).toMatch(/learning_rate0p1 against two-by-two__learning_rate0p001 is \+/)
    const [name = ''] = readdirSync(join(dirname(file), '.evsys/runs'))
    const dir = join(dirname(file), '.evsys/runs', name)
    expect(readFileSync(join(dir, 'experiment.md'), 'utf8')).toContain(result.conclusion?.text)
    const run = join(dir, 'two-by-two__learning_rate0p1__s42')
    for (const part of [
      'run_result.json',
      'logs/hypothesis.md',
      'logs/conclusion.md',
      'logs/data/training_data.jsonl',
    ]) {
      expect(existsSync(join(run, part)), part).toBe(true)
    }
    expect(readFileSync(join(run, 'logs/training/metrics.jsonl'), 'utf8').trim().split('\n')).toHaveLength(20)
  })

  it('repeats exactly: the same file gives the same canonical record (LAB-21)', async () => {
    const again = experimentProject(folder(), twoByTwo)
    await runExperiment(again)
    expect(await canonical(again)).toEqual(await canonical(file))
  })

  it('names the arms that failed, one whose plugin ends the process among them, and keeps the others (LAB-22)', async () => {
    const plugin = `import { defineTransform, z } from 'evsys/plugin'
      export default defineTransform({ kind: 'leave', summary: 'Ends the process when asked to.',
        params: z.strictObject({ now: z.boolean().default(false) }),
        async *run(rows, { params }) { if (params.now) process.exit(0); yield* rows } })`
    const { base_run } = twoByTwo.matrix
    const leave = (now: boolean) => ({
      ...base_run,
      name: now ? 'leaves' : 'stays',
      data: { ...base_run.data, transforms: [...base_run.data.transforms, { kind: 'leave', params: { now } }] },
    })
    const unprepared = { ...base_run, name: 'unprepared', backend: { kind: 'mock', params: { fail_on_prepare: true } } }
    const { matrix: _matrix, ...rest } = twoByTwo
    const metadata = { ...twoByTwo.metadata, claim: undefined }
    const file = experimentProject(
      folder(),
      { ...rest, metadata, n_repeats: 1, runs: [leave(false), leave(true), unprepared] },
      { 'leave.ts': plugin },
    )
    const { arms, conclusion } = await runExperiment(file)
    expect(arms.map(({ name, status, error }) => [name, status, error?.code])).toEqual([
      ['stays', 'completed', undefined],
      ['leaves', 'failed', 'WORKER_DIED'],
      ['unprepared', 'failed', 'BACKEND_FAILED'],
    ])
    expect(conclusion).toMatchObject({ verdict: 'exploratory' })
    expect(conclusion?.text).toMatch(/unprepared: 1 run failed \(BACKEND_FAILED/)
  })

  it('hands the secrets that its plugins declare to their runs, and does not start without them (LAB-2)', async () => {
    const plugin = `import { defineTransform, z } from 'evsys/plugin'
      export default defineTransform({ kind: 'keyed', summary: 'Needs a key.', params: z.strictObject({}),
        needs: { secrets: ['DESK_KEY'] },
        async *run(rows, { secret, log }) {
          if (secret('DESK_KEY') !== 'open sesame') throw new Error('the wrong key')
          log('info', secret('DESK_KEY'))
          yield* rows
        } })`
    const { base_run } = twoByTwo.matrix
    const { matrix: _matrix, ...rest } = twoByTwo
    const data = { ...base_run.data, transforms: [...base_run.data.transforms, { kind: 'keyed' }] }
    const experiment = { ...rest, metadata: { benchmark: [] }, n_repeats: 1, run: { ...base_run, data } }
    const file = experimentProject(folder(), experiment, { 'keyed.ts': plugin })
    await expect(runExperiment(file)).rejects.toMatchObject({ code: 'SECRET_MISSING' })
    expect(existsSync(join(dirname(file), '.evsys/runs'))).toBe(false)
    writeFileSync(join(dirname(file), '.env'), 'DESK_KEY="open sesame"\n')
    const { experiment_id, status } = await runExperiment(file)
    expect(status).toBe('completed')
    await using store = await openStore(join(dirname(file), '.evsys/evsys.db'))
    const [run] = await store.runs(experiment_id)
    const events = await store.events({ stream: `run:${run?.id}`, afterSeq: 0, limit: 1000, types: ['log'] })
    expect(JSON.stringify(events)).not.toContain('open sesame')
    expect(events.length).toBeGreaterThan(0)
  })

  it('chains stages: a later one starts from the weights of the one before (LAB-23)', async () => {
    const { matrix, ...rest } = twoByTwo
    const { algorithm, ...run } = matrix.base_run
    const stage = (learning_rate: number) => ({
      algorithm: { ...algorithm, params: { ...algorithm.params, learning_rate } },
    })
    const file = experimentProject(folder(), {
      ...rest,
      metadata: { ...rest.metadata, claim: undefined },
      n_repeats: 1,
      run: { ...run, name: 'chain', algorithm },
      stages: [stage(0.1), stage(0.0001)],
    })
    const result = await runExperiment(file)
    expect(result.status).toBe('completed')
    await using store = await openStore(join(dirname(file), '.evsys/evsys.db'))
    const [first, second] = await store.runs(result.experiment_id)
    const loss = async (id = '') =>
      (await store.curve({ runId: id, key: 'train_mean_nll', maxPoints: 100 }))[0]?.mean ?? Number.NaN
    expect(await loss(second?.id)).toBeLessThan((await loss(first?.id)) / 2)
  })
})

async function canonical(file: string): Promise<unknown> {
  await using store = await openStore(join(dirname(file), '.evsys/evsys.db'))
  const [experiment] = await store.experiments({ limit: 1 })
  return await store.canonicalRecord(experiment?.id ?? '')
}
