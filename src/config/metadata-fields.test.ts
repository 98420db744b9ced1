import { describe, expect, it } from 'vitest'
import { byKey, describeFields } from '../../tests/describe-fields.ts'
import { faultsIn, minimal, planOf } from '../../tests/load-text.ts'

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
        'chat_template: { system_prompt: s, user_template: "{prompt}" }',
        { system_prompt: 's', user_template: '{prompt}' },
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
    {
      field: 'environment',
      given: ['environment: local', { kind: 'local', params: {} }],
      absent: undefined,
      refused: ['environment: [a]', /^11:20 CONFIG_INVALID metadata.benchmark.0.environment: expected a mapping/],
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
