import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryOf } from '../../tests/arbitrary-of.ts'
import { TaskFile } from './task-file.ts'

const job = {
  $schema: 'https://example.com/task.json',
  name: 'train',
  description: 'Trains the router.',
  run: 'python train.py',
  setup: 'pip install -r requirements.txt',
  resources: {
    compute_provider: 'slurm',
    cpus: 8,
    memory: '32',
    disk_space: 100,
    accelerators: 'H100:1',
    num_nodes: 1,
    instance_type: 'p5.4xlarge',
    cloud: 'aws',
    region: 'us-east-1',
    zone: 'us-east-1a',
    use_spot: true,
    image_id: 'img',
    fleet_name: 'f',
  },
  envs: { TOKEN: '{{secret.TOKEN}}' },
  parameters: { learning_rate: 1e-4, layers: 4, tune: true, tag: null, list: [1], nested: { a: 1 } },
  sweeps: { sweep_config: { learning_rate: ['1e-4', '3e-4'] }, sweep_metric: 'eval/loss', lower_is_better: true },
  github_repo_url: 'https://github.com/a/b',
  github_repo_dir: 'src',
  github_repo_branch: 'main',
  minutes_requested: 30,
}
const research = {
  name: 'shakespeare',
  run: 'node train.js',
  metric: 'val_bpb',
  direction: 'min',
  unit: 'bits per byte',
  secondary: ['memory_gb'],
  seeds: 3,
  budget: { wall: '1h', usd: 5 },
  scope: ['train.js'],
  off_limits: ['prepare.js'],
  scorer: 'score.js',
  api: 'evsys/job',
  prompt: 'Lower the loss.',
}

describe('a task file', () => {
  it.each([
    ['a job', job],
    ['research', research],
  ])('holds all that %s needs (CON-2)', (_name, task) => {
    expect(TaskFile.parse(task)).toMatchObject(task)
  })

  it('needs a name and a command, and fills in the rest (CON-2)', () => {
    expect(TaskFile.parse({ name: 't', run: 'true' })).toStrictEqual({
      name: 't',
      run: 'true',
      envs: {},
      parameters: {},
      secondary: [],
      scope: [],
      off_limits: [],
    })
    expect(TaskFile.safeParse({ name: 't' }).success).toBe(false)
    expect(TaskFile.safeParse({ run: 'true' }).success).toBe(false)
  })

  it('sweeps for the lowest eval/loss unless told otherwise (CON-2)', () => {
    expect(TaskFile.parse({ ...job, sweeps: { sweep_config: { layers: ['2'] } } }).sweeps).toStrictEqual({
      sweep_config: { layers: ['2'] },
      sweep_metric: 'eval/loss',
      lower_is_better: true,
    })
  })

  it.each([
    ['at the root', { ...job, parametres: {} }],
    ['in resources', { ...job, resources: { ...job.resources, gpu: 1 } }],
    ['in sweeps', { ...job, sweeps: { ...job.sweeps, method: 'random' } }],
    ['in the budget', { ...research, budget: { hours: 1 } }],
  ])('refuses an unknown key %s (CON-2)', (_where, task) => {
    expect(TaskFile.safeParse(task).error?.issues.map(({ code }) => code)).toEqual(['unrecognized_keys'])
  })

  it.each([
    ['an empty command', { run: '' }],
    ['a name that is a path', { name: 'a/b' }],
    ['a number in the environment', { envs: { N: 1 } }],
    ['a sweep over nothing', { sweeps: { sweep_config: { a: [] } } }],
    ['a sweep without values', { sweeps: {} }],
    ['no node', { resources: { num_nodes: 0 } }],
    ['no memory', { resources: { memory: 0 } }],
    ['a count of accelerators alone', { resources: { accelerators: 1 } }],
    ['no seed', { seeds: 0 }],
    ['an empty list of seeds', { seeds: [] }],
    ['a seed below zero', { seeds: [-1] }],
    ['a direction that is none', { direction: 'lower' }],
    ['half a minute', { minutes_requested: 0.5 }],
  ])('refuses %s (CON-2)', (_what, wrong) => {
    expect(TaskFile.safeParse({ name: 't', run: 'true', ...wrong }).success).toBe(false)
  })

  it('is a fixed point: parsed again, also through JSON, it stays as it is (CON-2)', () => {
    fc.assert(
      fc.property(arbitraryOf(TaskFile), (written) => {
        const task = TaskFile.parse(written)
        expect(TaskFile.parse(JSON.parse(JSON.stringify(task)))).toEqual(task)
      }),
    )
  })
})
