import { describe, expect, it } from 'vitest'
import { byKey, describeFields } from '../../tests/describe-fields.ts'
import { faultsIn, minimal, planOf } from '../../tests/load-text.ts'

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
    {
      field: 'environment',
      given: [
        'environment: { kind: docker, params: { program: podman } }',
        { kind: 'docker', params: { program: 'podman' } },
      ],
      absent: undefined,
      refused: ['environment: { kind: 3 }', /^8:24 CONFIG_INVALID run.environment.kind: expected text/],
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
