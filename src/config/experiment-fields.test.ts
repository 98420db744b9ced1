import { describe, expect, it } from 'vitest'
import { byKey, describeFields } from '../../tests/describe-fields.ts'
import { faultsIn, minimal, planOf } from '../../tests/load-text.ts'

// minimal has seven lines: what is added at the root starts on line 8.
describeFields(
  'the root',
  [
    {
      field: 'version',
      given: ['version: 1', 1],
      absent: 1,
      refused: ['version: 2', /^8:10 CONFIG_INVALID version: this evsys reads version 1/],
    },
    {
      field: 'description',
      given: ['description: why', 'why'],
      absent: '',
      refused: ['description: [a]', /^8:14 CONFIG_INVALID description: expected text/],
    },
    {
      field: 'output_dir',
      given: ['output_dir: out', '/project/out'],
      absent: undefined,
      refused: ["output_dir: ''", /^8:13 CONFIG_INVALID output_dir/],
    },
    {
      field: 'log_rollouts',
      given: ['log_rollouts: true', true],
      absent: false,
      refused: ['log_rollouts: yes', /^8:15 CONFIG_INVALID log_rollouts: expected true or false/],
    },
    {
      field: 'data_store',
      given: ['data_store: { kind: s3 }', { kind: 's3', params: {} }],
      absent: undefined,
      refused: ['data_store: { knd: s3 }', /^8:15 CONFIG_UNKNOWN_KEY data_store.knd/],
    },
    {
      field: 'log_store',
      given: ['log_store: { kind: mlflow, params: { a: 1 } }', { kind: 'mlflow', params: { a: 1 } }],
      absent: undefined,
      refused: ['log_store: mlflow', /^8:12 CONFIG_INVALID log_store: expected a mapping/],
    },
    {
      field: 'callbacks',
      given: ['callbacks: [{ kind: local_logger }]', [{ kind: 'local_logger', params: {} }]],
      absent: [],
      refused: ['callbacks: [{ params: {} }]', /^8:13 CONFIG_INVALID callbacks.0.kind: is missing/],
    },
    {
      field: 'plugins',
      given: ['plugins: [./lib/a.ts, acme]', ['/project/lib/a.ts', 'acme']],
      absent: [],
      refused: ['plugins: ./lib/a.ts', /^8:10 CONFIG_INVALID plugins: expected a list/],
    },
    {
      field: 'n_repeats',
      given: ['n_repeats: 2', 2],
      absent: 1,
      refused: ['n_repeats: 0', /^8:12 CONFIG_INVALID n_repeats: must be at least 1/],
    },
    {
      field: 'base_seed',
      given: ['base_seed: 0', 0],
      absent: undefined,
      refused: ['base_seed: -1', /^8:12 CONFIG_INVALID base_seed: must be at least 0/],
    },
    {
      field: 'max_concurrent_arms',
      given: ['max_concurrent_arms: 4', 4],
      absent: undefined,
      refused: ['max_concurrent_arms: 1.5', /^8:22 CONFIG_INVALID max_concurrent_arms: expected a whole number/],
    },
    {
      field: 'parent_experiment_id',
      given: ['parent_experiment_id: exp_1', 'exp_1'],
      absent: undefined,
      refused: ['parent_experiment_id: 7', /^8:23 CONFIG_INVALID parent_experiment_id: expected text/],
    },
    {
      field: 'budget',
      given: [
        'budget: { wall: 30m, usd: 5, steps: 10, tokens: 9, gpu_seconds: 1.5 }',
        { wall: 1800, usd: 5, steps: 10, tokens: 9, gpu_seconds: 1.5 },
      ],
      absent: undefined,
      refused: ['budget: { wall: 30 minutes }', /^8:17 CONFIG_INVALID budget.wall: a duration is seconds/],
    },
    {
      field: 'compute',
      given: [
        'compute: { kind: slurm, params: { queue: a }, resources: { cpus: 2 }, setup: make, envs: { A: b } }',
        { kind: 'slurm', params: { queue: 'a' }, resources: { cpus: 2 }, setup: 'make', envs: { A: 'b' } },
      ],
      absent: undefined,
      refused: ['compute: { resources: { gpus: 1 } }', /^8:25 CONFIG_UNKNOWN_KEY compute.resources.gpus/],
    },
    {
      field: 'deploy',
      given: ['deploy: { kind: folder }', { kind: 'folder', params: {} }],
      absent: undefined,
      refused: ['deploy: {}', /^8:9 CONFIG_INVALID deploy.kind: is missing/],
    },
    {
      field: 'continual',
      given: [
        'continual: { datasets: [{ path: a.jsonl }] }',
        {
          datasets: [{ source_kind: 'jsonl', path: '/project/a.jsonl', hf_split: 'train', transforms: [] }],
          name_template: '{base}_stage{i}',
          mix: false,
        },
      ],
      absent: undefined,
      refused: ['continual: { datasets: [] }', /^8:24 CONFIG_INVALID continual.datasets: must not be empty/],
    },
    {
      field: 'stages',
      given: [
        'stages: { stages: [{ algorithm: { kind: rl } }] }',
        { stages: [{ algorithm: { kind: 'rl', params: {} } }] },
      ],
      absent: undefined,
      refused: ['stages: [{ data: {} }]', /^8:10 CONFIG_INVALID stages.0.algorithm: is missing/],
    },
    {
      field: '$schema',
      given: ['$schema: ../experiment.schema.json', '../experiment.schema.json'],
      absent: undefined,
      refused: ['$schema: 1', /^8:10 CONFIG_INVALID \$schema: expected text/],
    },
    {
      field: 'metadata',
      given: ['metadata: { hypothesis: h }', { hypothesis: 'h', tags: [], benchmark: [] }],
      absent: { tags: [], benchmark: [] },
      refused: ['metadata: text', /^8:11 CONFIG_INVALID metadata: expected a mapping/],
    },
  ],
  {
    textOf: (yaml) => `${minimal}${yaml}\n`,
    without: () => minimal,
    read: (plan, field) => byKey(plan.experiment, field),
  },
)

describe('the root', () => {
  it('`name` is required and usable as a folder name (CON-1)', async () => {
    expect((await planOf(minimal)).experiment.name).toBe('minimal')
    expect(await faultsIn(minimal.replace('name: minimal\n', ''))).toEqual([
      '1:1 CONFIG_INVALID name: is missing: expected text',
    ])
    expect(await faultsIn(minimal.replace('name: minimal', 'name: a/b'))).toEqual([
      expect.stringMatching(/^1:7 CONFIG_NAME name: a name is a folder name/),
    ])
  })

  it.each([
    ['run', 'run', 1],
    ['runs', 'runs', 1],
    ['matrix', 'matrix', 1],
  ])('`%s` gives arms (CFG-1)', async (_name, key, count) => {
    const body = minimal.slice(minimal.indexOf('run:\n') + 5)
    const texts: Record<string, string> = {
      run: minimal,
      runs: `name: m\nruns:\n  - ${body.trim()}\n`.replaceAll('\n  ', '\n    ').replace('\n    - ', '\n  - '),
      matrix: `name: m\nmatrix:\n  base_run:\n${body.replaceAll(/^/gm, '  ').trimEnd()}\n`,
    }
    expect((await planOf(texts[key] ?? '')).arms).toHaveLength(count)
  })
})
