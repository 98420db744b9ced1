// `rl` in the real loop, with real gradients of the mock engine.
import { describe, expect, it } from 'vitest'
import type { RunAssignment } from '../src/contracts/index.ts'
import { resumed } from './resumed-assignment.ts'
import { runAssignment } from './run-assignment.ts'
import { temporaryFolders } from './temporary-folder.ts'
import { type TrainedHere, trainHere } from './train-here.ts'

const folder = temporaryFolders()
const tasks = ['one', 'two', 'three'].map((task_id) => ({
  task_id,
  instruction: task_id,
  verifier: { kind: 'in_process', fn_name: 'contains', expected: 'e' },
}))

type Changes = Partial<Omit<RunAssignment, 'config'>> & { config?: object }

function of(params: object, { config, ...rest }: Changes = {}, rows: readonly object[] = tasks): RunAssignment {
  const data = { source_kind: 'in_memory', rows: [...rows], hf_split: 'train', transforms: [] }
  const short = { batch_size: 3, num_samples: 4, max_tokens: 12, learning_rate: 0.3, max_steps: 2 }
  const algorithm = { kind: 'rl', params: { ...short, ...params } }
  return runAssignment(folder(), { ...rest, config: { data, algorithm, ...config } as object })
}
const stepsOf = (run: TrainedHere) => run.of('step.finished').map(({ step, metrics }) => ({ step, ...metrics }))
const seriesOf = (run: TrainedHere, key: string) =>
  run.of('step.finished').map(({ metrics }) => metrics[key] ?? Number.NaN)
const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length

describe('rl', () => {
  it('makes rewarded answers likelier (RL-101)', async () => {
    const run = await trainHere(of({ max_steps: 16, num_samples: 6 }))
    expect(run.of('run.finished')).toMatchObject([{ status: 'completed' }])
    const rewards = seriesOf(run, 'reward/mean')
    expect(mean(rewards.slice(-6))).toBeGreaterThan(mean(rewards.slice(0, 6)) + 0.2)
    expect(run.of('rollout.finished')).toHaveLength(16 * 3 * 6)
    expect(stepsOf(run)[0]).toMatchObject({ 'group/count': 3, 'optim/kl_sample_train_v1': 0, 'policy/staleness': 0 })
  })

  it('resumes to the step: what follows is equal to the bit (RL-101)', async () => {
    const assignment = of({ max_steps: 6, save_every: 2, gradient_accumulation_steps: 2 })
    const whole = await trainHere(assignment)
    const rest = await trainHere(resumed(assignment, whole, { step: 3, final: false }))
    expect(stepsOf(rest)).toEqual(stepsOf(whole).slice(4))
  })
})
