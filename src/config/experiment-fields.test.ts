// One row for each field of the experiment file: a value that is taken, what holds without it, a value that is refused and where.
import { describe, expect, it } from 'vitest'
import { faultsIn, minimal, planOf } from '../../tests/load-text.ts'
import type { Plan } from '../contracts/index.ts'

interface Field {
  readonly field: string
  /** YAML that gives the field, and what it becomes. */
  readonly given: readonly [yaml: string, value: unknown]
  /** What it is when it is not given; `required` when it must be. */
  readonly absent: unknown
  /** YAML that is refused, and the place and code of the problem. */
  readonly refused: readonly [yaml: string, fault: RegExp]
}

function describeFields(
  section: string,
  fields: readonly Field[],
  parts: {
    textOf: (yaml: string) => string
    without: (field: string) => string
    read: (plan: Plan, field: string) => unknown
  },
): void {
  describe(section, () => {
    for (const { field, given, absent, refused } of fields) {
      it(`\`${field}\` is read, defaulted and checked (CON-1)`, async () => {
        expect(parts.read(await planOf(parts.textOf(given[0])), field)).toEqual(given[1])
        const without = parts.without(field)
        if (absent === 'required') expect(await faultsIn(without)).toContainEqual(expect.stringMatching(/is missing/))
        else expect(parts.read(await planOf(without), field)).toEqual(absent)
        const faults = await faultsIn(parts.textOf(refused[0]))
        expect(faults).toContainEqual(expect.stringMatching(refused[1]))
      })
    }
  })
}

const byKey = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined

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

// The eighth line of minimal, indented, belongs to its run.
describeFields(
  'a run',
  [
    {
      field: 'seed',
      given: ['seed: 7', 7],
      absent: 42,
      refused: ['seed: 4294967296', /^8:9 CONFIG_INVALID run.seed: must be at most 4294967295/],
    },
    {
      field: 'tags',
      given: ['tags: [a, b]', ['a', 'b']],
      absent: [],
      refused: ["tags: ['']", /^8:10 CONFIG_INVALID run.tags.0: must not be empty/],
    },
    {
      field: 'agent',
      given: ['agent: { kind: basic_loop, params: { turns: 3 } }', { kind: 'basic_loop', params: { turns: 3 } }],
      absent: undefined,
      refused: ['agent: { kind: 3 }', /^8:18 CONFIG_INVALID run.agent.kind: expected text/],
    },
  ],
  {
    textOf: (yaml) => `${minimal}  ${yaml}\n`,
    without: () => minimal,
    read: (plan, field) => byKey(plan.runs[0]?.config, field),
  },
)

const runParts: Readonly<Record<string, string>> = {
  name: 'name: r',
  data: 'data: { source_kind: in_memory, rows: [{ a: 1 }] }',
  model: 'model: { name: mock }',
  algorithm: 'algorithm: { kind: sft }',
  backend: 'backend: { kind: mock }',
}

function runText(parts: Readonly<Record<string, string>>): string {
  return `name: e\nrun:\n${Object.values(parts)
    .map((part) => `  ${part}\n`)
    .join('')}`
}

describeFields(
  'a run',
  [
    { field: 'name', given: ['name: one', 'one'], absent: 'e', refused: ['name: "a:b"', /^7:9 CONFIG_NAME run.name/] },
    {
      field: 'data',
      given: [
        'data: { path: a.jsonl }',
        { source_kind: 'jsonl', path: '/project/a.jsonl', hf_split: 'train', transforms: [] },
      ],
      absent: 'required',
      refused: ['data: a.jsonl', /^7:9 CONFIG_INVALID run.data: expected a mapping/],
    },
    {
      field: 'model',
      given: ['model: { name: m }', { name: 'm' }],
      absent: 'required',
      refused: ['model: m', /^7:10 CONFIG_INVALID run.model: expected a mapping/],
    },
    {
      field: 'algorithm',
      given: ['algorithm: { kind: rl, params: { a: 1 } }', { kind: 'rl', params: { a: 1 } }],
      absent: 'required',
      refused: ['algorithm: { kind: "s f" }', /^7:22 CONFIG_INVALID run.algorithm.kind: a kind starts with a letter/],
    },
    {
      field: 'backend',
      given: ['backend: { kind: tinker }', { kind: 'tinker', params: {} }],
      absent: { kind: 'local', params: {} },
      refused: ['backend: { kind: tinker, params: [] }', /^7:36 CONFIG_INVALID run.backend.params: expected a mapping/],
    },
  ],
  {
    textOf: (yaml) => {
      const key = yaml.slice(0, yaml.indexOf(':'))
      const { [key]: _replaced, ...others } = runParts
      return runText({ ...others, [key]: yaml })
    },
    without: (field) => runText(Object.fromEntries(Object.entries(runParts).filter(([key]) => key !== field))),
    read: (plan, field) => byKey(plan.runs[0]?.config, field),
  },
)

// A data block of its own: its fields start on line 5.
const dataText = (yaml: string, base = 'path: a.jsonl') =>
  `name: e\nmodel: { name: m }\nalgorithm: { kind: sft }\ndata:\n  ${yaml.replaceAll('\n', '\n  ')}\n  ${base}\n`

describeFields(
  'data',
  [
    {
      field: 'source_kind',
      given: ['source_kind: json', 'json'],
      absent: 'jsonl',
      refused: ['source_kind: 3', /^5:16 CONFIG_INVALID data.source_kind: expected text/],
    },
    {
      field: 'dataset_id',
      given: ['dataset_id: ds_1', 'ds_1'],
      absent: undefined,
      refused: ['dataset_id: [a]', /^5:15 CONFIG_INVALID data.dataset_id: expected text/],
    },
    {
      field: 'dataset_name',
      given: ['dataset_name: d', 'd'],
      absent: undefined,
      refused: ['dataset_name: {}', /^5:17 CONFIG_INVALID data.dataset_name: expected text/],
    },
    {
      field: 'hf_split',
      given: ['hf_split: test', 'test'],
      absent: 'train',
      refused: ['hf_split: 1', /^5:13 CONFIG_INVALID data.hf_split: expected text/],
    },
    {
      field: 'params',
      given: ['params: { max_line_bytes: 10 }', { max_line_bytes: 10 }],
      absent: undefined,
      refused: ['params: 1', /^5:11 CONFIG_INVALID data.params: expected a mapping/],
    },
    {
      field: 'transforms',
      given: ['transforms: [{ kind: identity }]', [{ kind: 'identity', params: {} }]],
      absent: [],
      refused: ['transforms: [identity]', /^5:16 CONFIG_INVALID data.transforms.0: expected a mapping/],
    },
  ],
  {
    textOf: (yaml) => dataText(yaml),
    without: () => dataText('{}').replace('  {}\n', ''),
    read: (plan, field) => byKey(plan.runs[0]?.config.data, field),
  },
)

describe('data', () => {
  it.each([
    [
      'jsonl',
      'path: a.jsonl',
      '4:1 CONFIG_INVALID data.path: is missing: source_kind jsonl reads its rows from `path`',
    ],
    ['json', 'path: a.json', '4:1 CONFIG_INVALID data.path: is missing: source_kind json reads its rows from `path`'],
    [
      'in_memory',
      'rows: [{ a: 1 }]',
      '4:1 CONFIG_INVALID data.rows: is missing: source_kind in_memory reads its rows from `rows`',
    ],
    [
      'hf_dataset',
      'hf_dataset: org/set',
      '4:1 CONFIG_INVALID data.hf_dataset: is missing: source_kind hf_dataset reads its rows from `hf_dataset`',
    ],
  ])('`%s` needs its own field, unless a stored dataset is named (CON-1)', async (kind, field, fault) => {
    await expect(planOf(dataText(`source_kind: ${kind}`, field))).resolves.toBeDefined()
    await expect(planOf(dataText(`source_kind: ${kind}`, 'dataset_name: stored'))).resolves.toBeDefined()
    expect(await faultsIn(dataText(`source_kind: ${kind}`, 'hf_split: x'))).toEqual([fault])
  })

  it('`rows` are mappings (CON-1)', async () => {
    expect(await faultsIn(dataText('source_kind: in_memory', 'rows: [a]'))).toEqual([
      expect.stringMatching(/^6:10 CONFIG_INVALID data.rows.0: expected a mapping/),
    ])
    expect(await faultsIn(dataText('source_kind: in_memory', 'rows: []'))).toEqual([
      expect.stringMatching(/^6:9 CONFIG_INVALID data.rows: must not be empty/),
    ])
  })

  it('says which source reads the field that is given (CON-1)', async () => {
    const error = await planOf(dataText('rows: [{ a: 1 }]', 'hf_split: x')).catch((cause) => cause)
    expect(error.problems[0].fix).toBe('`rows` is read with source_kind: in_memory.')
  })

  it('notes fields that are not read (CON-1)', async () => {
    const { notices } = await planOf(dataText('rows: [{ a: 1 }]'))
    expect(notices).toEqual([
      {
        text: '`rows` is not read: source_kind is jsonl.',
        where: { file: 'e.yaml', line: 5, col: 3, path: 'data.rows' },
      },
    ])
    const stored = await planOf(dataText('dataset_id: a\ndataset_name: b'))
    expect(stored.notices.map(({ text }) => text)).toEqual([
      '`dataset_name` is not read: dataset_id wins.',
      '`path` is not read: dataset_id wins.',
    ])
  })
})

const modelText = (yaml: string) =>
  `name: e\ndata: { path: a.jsonl }\nalgorithm: { kind: sft }\nmodel:\n  name: m\n${yaml === '' ? '' : `  ${yaml.replaceAll('\n', '\n  ')}\n`}`

describeFields(
  'model',
  [
    {
      field: 'load_checkpoint_path',
      given: ['load_checkpoint_path: ./state', '/project/state'],
      absent: undefined,
      refused: ['load_checkpoint_path: 1', /^6:25 CONFIG_INVALID model.load_checkpoint_path: expected text/],
    },
    {
      field: 'init_from_checkpoint',
      given: ['init_from_checkpoint: tinker://run/weights', 'tinker://run/weights'],
      absent: undefined,
      refused: ["init_from_checkpoint: ''", /^6:25 CONFIG_INVALID model.init_from_checkpoint: must not be empty/],
    },
    {
      field: 'renderer_name',
      given: ['renderer_name: qwen3', 'qwen3'],
      absent: undefined,
      refused: ['renderer_name: [a]', /^6:18 CONFIG_INVALID model.renderer_name: expected text/],
    },
    {
      field: 'resume_step',
      given: ['load_checkpoint_path: s\nresume_step: 3', 3],
      absent: undefined,
      refused: [
        'load_checkpoint_path: s\nresume_step: -1',
        /^7:16 CONFIG_INVALID model.resume_step: must be at least 0/,
      ],
    },
  ],
  { textOf: modelText, without: () => modelText(''), read: (plan, field) => byKey(plan.runs[0]?.config.model, field) },
)

describe('model', () => {
  it('`name` is required (CON-1)', async () => {
    expect(await faultsIn(modelText('').replace('  name: m\n', '  renderer_name: a\n'))).toEqual([
      '4:1 CONFIG_INVALID model.name: is missing: expected text',
    ])
  })

  it('starts from one checkpoint at most (CON-1)', async () => {
    expect(await faultsIn(modelText('init_from_checkpoint: a\nload_checkpoint_path: b'))).toEqual([
      expect.stringMatching(/^7:3 CONFIG_CONFLICT model.load_checkpoint_path: a run either continues/),
    ])
  })

  it('resumes at a step only when it loads a checkpoint (CON-1)', async () => {
    expect(await faultsIn(modelText('resume_step: 3'))).toEqual([
      expect.stringMatching(/^6:3 CONFIG_CONFLICT model.resume_step: resume_step says where/),
    ])
  })
})

const metadataText = (yaml: string) =>
  `${minimal}metadata:\n${yaml === '' ? '  extra: {}\n' : `  ${yaml.replaceAll('\n', '\n  ')}\n`}`

describeFields(
  'metadata',
  [
    {
      field: 'hypothesis',
      given: ['hypothesis: h', 'h'],
      absent: undefined,
      refused: ['hypothesis: 3', /^9:15 CONFIG_INVALID metadata.hypothesis: expected text/],
    },
    {
      field: 'notes',
      given: ['notes: n', 'n'],
      absent: undefined,
      refused: ['notes: []', /^9:10 CONFIG_INVALID metadata.notes: expected text/],
    },
    {
      field: 'tags',
      given: ['tags: [a]', ['a']],
      absent: [],
      refused: ['tags: a', /^9:9 CONFIG_INVALID metadata.tags: expected a list/],
    },
    {
      field: 'project_goal_id',
      given: ['project_goal_id: g', 'g'],
      absent: undefined,
      refused: ['project_goal_id: {}', /^9:20 CONFIG_INVALID metadata.project_goal_id: expected text/],
    },
    {
      field: 'extra',
      given: ['extra: { any: [1, null] }', { any: [1, null] }],
      absent: {},
      refused: ['extra: 1', /^9:10 CONFIG_INVALID metadata.extra: expected a mapping/],
    },
    {
      field: 'benchmark',
      given: ['benchmark: []', []],
      absent: [],
      refused: ['benchmark: val', /^9:14 CONFIG_INVALID metadata.benchmark: expected a list/],
    },
    {
      field: 'objective',
      given: [
        'objective: { metric: pass_rate, direction: min }\nbenchmark: { path: v }',
        { metric: 'pass_rate', direction: 'min' },
      ],
      absent: undefined,
      refused: [
        'objective: { metric: a, direction: up }\nbenchmark: { path: v }',
        /^9:38 CONFIG_INVALID metadata.objective.direction: expected one of "max", "min"/,
      ],
    },
    {
      field: 'claim',
      given: [
        'claim: { treatment: r, baseline: base_model, metric: pass_rate }\nbenchmark: { path: v }',
        { treatment: 'r', baseline: 'base_model', metric: 'pass_rate', min_effect: 0, confidence: 0.9 },
      ],
      absent: undefined,
      refused: [
        'claim: { treatment: r, baseline: base_model, confidence: 2 }',
        /^9:60 CONFIG_INVALID metadata.claim.confidence: must be at most 0.999/,
      ],
    },
  ],
  {
    textOf: metadataText,
    without: () => metadataText(''),
    read: (plan, field) => byKey(plan.experiment.metadata, field),
  },
)

describe('metadata', () => {
  it('`success_metric` is short for the objective (CFG-7)', async () => {
    const { experiment, objective } = await planOf(metadataText('success_metric: v.pass_rate\nbenchmark: { path: v }'))
    expect(experiment.metadata.objective).toEqual({ metric: 'v.pass_rate' })
    expect(objective).toEqual({ benchmark: 'v', metric: 'pass_rate', direction: 'max' })
    expect(await faultsIn(metadataText('success_metric: 3'))).toEqual([
      expect.stringMatching(/^9:19 CONFIG_INVALID metadata.success_metric: expected text/),
    ])
  })

  it('refuses any other key (CFG-9)', async () => {
    expect(await faultsIn(metadataText('hypotesis: h'))).toEqual([
      '9:3 CONFIG_UNKNOWN_KEY metadata.hypotesis: unknown key "hypotesis"',
    ])
  })
})

const benchmarkText = (yaml: string) =>
  metadataText(`benchmark:\n  - path: data/val\n${yaml === '' ? '' : `    ${yaml}`}`)

describeFields(
  'a benchmark',
  [
    {
      field: 'name',
      given: ['name: v', 'v'],
      absent: 'val',
      refused: ['name: a/b', /^11:13 CONFIG_NAME metadata.benchmark.0.name/],
    },
    {
      field: 'path',
      given: ['tags: []', '/project/data/val'],
      absent: '/project/data/val',
      refused: ['path: x', /^11:7 CONFIG_SYNTAX .*"path" is given twice/],
    },
    {
      field: 'id',
      given: ['id: b_1', 'b_1'],
      absent: undefined,
      refused: ['id: 1', /^11:11 CONFIG_INVALID metadata.benchmark.0.id: expected text/],
    },
    {
      field: 'data',
      given: [
        'data: { path: t.jsonl }',
        { source_kind: 'jsonl', path: '/project/t.jsonl', hf_split: 'train', transforms: [] },
      ],
      absent: undefined,
      refused: ['data: { source_kind: in_memory }', /^11:13 CONFIG_INVALID metadata.benchmark.0.data.rows: is missing/],
    },
    {
      field: 'run_every',
      given: ['run_every: 50', 50],
      absent: 0,
      refused: ['run_every: -1', /^11:18 CONFIG_INVALID metadata.benchmark.0.run_every: must be at least 0/],
    },
    {
      field: 'split',
      given: ['split: test', 'test'],
      absent: 'val',
      refused: ['split: train', /^11:14 CONFIG_INVALID metadata.benchmark.0.split: expected one of "val", "test"/],
    },
    {
      field: 'tags',
      given: ['tags: [test]', ['test']],
      absent: [],
      refused: ['tags: test', /^11:13 CONFIG_INVALID metadata.benchmark.0.tags: expected a list/],
    },
    {
      field: 'metrics',
      given: ['metrics: [pass@1]', ['pass@1']],
      absent: ['mean_reward', 'pass_rate'],
      refused: ['metrics: []', /^11:16 CONFIG_INVALID metadata.benchmark.0.metrics: must not be empty/],
    },
    {
      field: 'num_samples',
      given: ['num_samples: 4', 4],
      absent: 1,
      refused: ['num_samples: 0', /^11:20 CONFIG_INVALID metadata.benchmark.0.num_samples: must be at least 1/],
    },
    {
      field: 'max_tokens',
      given: ['max_tokens: 64', 64],
      absent: 512,
      refused: ['max_tokens: none', /^11:19 CONFIG_INVALID metadata.benchmark.0.max_tokens: expected a whole number/],
    },
    {
      field: 'temperature',
      given: ['temperature: 0.7', 0.7],
      absent: 0,
      refused: ['temperature: -1', /^11:20 CONFIG_INVALID metadata.benchmark.0.temperature: must be at least 0/],
    },
    {
      field: 'limit',
      given: ['limit: 10', 10],
      absent: undefined,
      refused: ['limit: 0', /^11:14 CONFIG_INVALID metadata.benchmark.0.limit: must be at least 1/],
    },
    {
      field: 'breakdown_keys',
      given: ['breakdown_keys: [a.b]', ['a.b']],
      absent: [],
      refused: ['breakdown_keys: {}', /^11:23 CONFIG_INVALID metadata.benchmark.0.breakdown_keys: expected a list/],
    },
    {
      field: 'chat_template',
      given: [
        'chat_template: { system_prompt: s, user_template: "{prompt}", enable_thinking: false }',
        { system_prompt: 's', user_template: '{prompt}', enable_thinking: false },
      ],
      absent: {},
      refused: ['chat_template: { system: s }', /^11:24 CONFIG_UNKNOWN_KEY metadata.benchmark.0.chat_template.system/],
    },
    {
      field: 'engine',
      given: ["engine: ''", ''],
      absent: 'harbor',
      refused: ['engine: docker', /^11:15 CONFIG_INVALID metadata.benchmark.0.engine: expected one of/],
    },
    {
      field: 'n_concurrent',
      given: ['n_concurrent: 2', 2],
      absent: 8,
      refused: ['n_concurrent: 0', /^11:21 CONFIG_INVALID metadata.benchmark.0.n_concurrent: must be at least 1/],
    },
    {
      field: 'models',
      given: ['models: [gpt, claude]', ['gpt', 'claude']],
      absent: [],
      refused: ['models: [1]', /^11:16 CONFIG_INVALID metadata.benchmark.0.models.0: expected text/],
    },
    {
      field: 'inference',
      given: ['inference: { kind: mock }', { kind: 'mock', params: {} }],
      absent: undefined,
      refused: ['inference: mock', /^11:18 CONFIG_INVALID metadata.benchmark.0.inference: expected a mapping/],
    },
    {
      field: 'verifier',
      given: ['verifier: { kind: exact_match }', { kind: 'exact_match', params: {} }],
      absent: undefined,
      refused: ['verifier: {}', /^11:17 CONFIG_INVALID metadata.benchmark.0.verifier.kind: is missing/],
    },
    {
      field: 'agent',
      given: ['agent: { kind: basic_loop }', { kind: 'basic_loop', params: {} }],
      absent: undefined,
      refused: ['agent: [a]', /^11:14 CONFIG_INVALID metadata.benchmark.0.agent: expected a mapping/],
    },
  ],
  {
    textOf: benchmarkText,
    without: () => benchmarkText(''),
    read: (plan, field) => byKey(plan.experiment.metadata.benchmark[0], field),
  },
)

describe('a benchmark', () => {
  it('`model` is short for one of `models` (CFG-9)', async () => {
    expect((await planOf(benchmarkText('model: gpt'))).experiment.metadata.benchmark[0]?.models).toEqual(['gpt'])
    expect(await faultsIn(benchmarkText('{}').replace('{}', 'model: a\n      models: [b]'))).toEqual([
      expect.stringMatching(/^11:7 CONFIG_CONFLICT metadata.benchmark.0.model/),
    ])
  })

  it('may be one mapping (CFG-9)', async () => {
    const { experiment } = await planOf(metadataText('benchmark: { id: b }'))
    expect(experiment.metadata.benchmark.map(({ name, id }) => ({ name, id }))).toEqual([{ name: 'b', id: 'b' }])
  })

  it('has the same defaults in the loop and after it (CFG-9)', async () => {
    const { experiment } = await planOf(metadataText('benchmark: [{ path: a, run_every: 5 }, { path: b }]'))
    const [inLoop, after] = experiment.metadata.benchmark
    expect({ ...inLoop, path: '', name: '', run_every: 0 }).toEqual({ ...after, path: '', name: '' })
  })
})

describe('null', () => {
  it('means absent for every field that may be absent (CON-1)', async () => {
    const text = `${minimal}base_seed: null\nbudget:\nmetadata: { success_metric: null, benchmark: [{ path: v, limit: null, agent: ~ }] }\n`
    const { experiment } = await planOf(text)
    expect(experiment.base_seed).toBeUndefined()
    expect(experiment.budget).toBeUndefined()
    expect(experiment.metadata.benchmark[0]).not.toHaveProperty('limit')
  })

  it('is no value for a required field, and is kept inside params (CON-1)', async () => {
    expect(await faultsIn(minimal.replace('name: minimal', 'name:'))).toEqual([
      expect.stringMatching(/^1:1 CONFIG_INVALID name: expected text, got null/),
    ])
    const { runs } = await planOf(minimal.replace('max_steps: 1', 'stop: null'))
    expect(runs[0]?.config.algorithm.params).toEqual({ stop: null })
  })
})
