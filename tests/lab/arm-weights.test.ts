import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runExperiment } from '../../src/lab/experiment/run-experiment.ts'
import { openStore } from '../../src/store/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { experimentProject, twoByTwo } from './experiment-project.ts'

const folder = temporaryFolders()
const { matrix, ...rest } = twoByTwo
const { base_run: run } = matrix
const claim = { treatment: 'student', baseline: 'start' }
const benchmark = rest.metadata.benchmark.slice(0, 1).map((each) => ({ ...each, run_every: 0 }))
const sft = (max_steps: number) => ({ kind: 'sft', params: { max_steps, learning_rate: 0.1 } })
const distill = {
  kind: 'distill',
  params: { max_steps: 10, learning_rate: 0.1, teacher: { checkpoint: 'arm:teacher' } },
}
const experiment = (teacher: object) => ({
  ...rest,
  metadata: { ...rest.metadata, claim, benchmark },
  n_repeats: 1,
  runs: [
    { ...run, name: 'teacher', algorithm: sft(20), ...teacher },
    { ...run, name: 'start', algorithm: sft(1) },
    { ...run, name: 'student', model: { name: 'mock', init_from_checkpoint: 'arm:start' }, algorithm: distill },
  ],
})

describe('weights of another arm', () => {
  it('are those of the run with the same seed, which comes first (RL-311)', async () => {
    const file = experimentProject(folder(), experiment({}))
    const { arms, experiment_id } = await runExperiment(file)
    expect(arms.map(({ name, status }) => [name, status])).toEqual([
      ['teacher', 'completed'],
      ['start', 'completed'],
      ['student', 'completed'],
    ])
    await using store = await openStore(join(dirname(file), '.evsys/evsys.db'))
    const runs = await store.runs(experiment_id)
    const curve = async (arm: string, key: string) => {
      const of = runs.find((each) => each.arm === arm)
      return (await store.curve({ runId: of?.id ?? '', key, maxPoints: 100 })).map(({ mean }) => mean)
    }
    const kl = await curve('student', 'distill/kl')
    const [untrained = 0] = await curve('teacher', 'train_mean_nll')
    expect(kl[0]).toBeLessThan(untrained) // it began where the arm start ended
    expect(kl.at(-1)).toBeLessThan(kl[0] ?? 0)
    const hashes = new Set(runs.map(({ configHash }) => configHash))
    expect(hashes.size).toBe(3)
  })

  it('that failed to come about are told, and nothing starts without them (RL-311)', async () => {
    const broken = { backend: { kind: 'mock', params: { fail_on_prepare: true } } }
    const file = experimentProject(folder(), experiment(broken))
    const { arms, experiment_id } = await runExperiment(file)
    expect(arms.map(({ status }) => status)).toEqual(['failed', 'completed', 'cancelled'])
    await using store = await openStore(join(dirname(file), '.evsys/evsys.db'))
    const student = (await store.runs(experiment_id)).find(({ arm }) => arm === 'student')
    expect(student?.error?.message).toBe('teacher, whose weights it needs, did not complete')
  })
})
