import { describe, expect, it } from 'vitest'
import { faultsIn, minimal, planOf } from '../../tests/load-text.ts'

const inRun = (yaml: string) => `${minimal}  ${yaml}\n`

describe('log_store', () => {
  it.each([
    ['jsonl', '{ kind: jsonl }', [{ kind: 'local_logger', params: {} }]],
    ['the default', '{}', [{ kind: 'local_logger', params: {} }]],
    [
      'tensorboard',
      '{ kind: tensorboard, params: { dir: tb } }',
      [{ kind: 'tensorboard_logger', params: { dir: 'tb' } }],
    ],
    [
      'multiplex',
      '{ kind: multiplex, params: { children: [{ kind: jsonl }, { kind: tensorboard }] } }',
      [
        { kind: 'local_logger', params: {} },
        { kind: 'tensorboard_logger', params: {} },
      ],
    ],
  ])('%s becomes callbacks, with one notice (CFG-10)', async (_name, store, callbacks) => {
    const { experiment, notices } = await planOf(`${minimal}log_store: ${store}\n`)
    expect(experiment.callbacks).toEqual(callbacks)
    expect(experiment.log_store).toBeUndefined()
    expect(notices).toEqual([
      {
        text: expect.stringMatching(/^log_store is written as callbacks now/),
        where: { file: 'e.yaml', line: 8, col: 1, path: 'log_store' },
      },
    ])
  })

  it('adds nothing that is there already (CFG-10)', async () => {
    const { experiment } = await planOf(
      `${minimal}callbacks: [{ kind: csv_metrics }, { kind: local_logger }]\nlog_store: { kind: jsonl }\n`,
    )
    expect(experiment.callbacks.map(({ kind }) => kind)).toEqual(['csv_metrics', 'local_logger'])
  })

  it('stays when it is a plugin, also inside multiplex (CFG-10)', async () => {
    const plain = await planOf(`${minimal}log_store: { kind: mlflow }\n`)
    expect(plain.experiment.log_store).toEqual({ kind: 'mlflow', params: {} })
    expect(plain.notices).toEqual([])
    const mixed = await planOf(
      `${minimal}log_store: { kind: multiplex, params: { children: [{ kind: jsonl }, { kind: mlflow }] } }\n`,
    )
    expect(mixed.experiment.log_store).toEqual({ kind: 'mlflow', params: {} })
    expect(mixed.experiment.callbacks.map(({ kind }) => kind)).toEqual(['local_logger'])
  })

  it.each([
    [
      'multiplex without children',
      'log_store: { kind: multiplex }',
      /^8:12 CONFIG_INVALID log_store: multiplex lists its log stores as params.children/,
    ],
    [
      'two plugins in multiplex',
      'log_store: { kind: multiplex, params: { children: [{ kind: a }, { kind: b }] } }',
      /^8:65 CONFIG_CONFLICT .*only one log store/,
    ],
    ['an unknown key', 'log_store: { kind: jsonl, colour: red }', /^8:27 CONFIG_UNKNOWN_KEY log_store.colour/],
    ['text', 'log_store: jsonl', /^8:12 CONFIG_INVALID log_store: expected a mapping/],
  ])('%s is refused at its place (CFG-10)', async (_name, yaml, fault) => {
    expect(await faultsIn(`${minimal}${yaml}\n`)).toEqual([expect.stringMatching(fault)])
  })
})

describe('data_store', () => {
  it('local is dropped, with one notice (CFG-10)', async () => {
    const { experiment, notices } = await planOf(`${minimal}data_store: { kind: local }\n`)
    expect(experiment.data_store).toBeUndefined()
    expect(notices).toEqual([expect.objectContaining({ text: expect.stringContaining('data_store') })])
  })

  it('stays when it says more than the default (CFG-10)', async () => {
    const { experiment } = await planOf(`${minimal}data_store: { kind: local, params: { root: data } }\n`)
    expect(experiment.data_store).toEqual({ kind: 'local', params: { root: '/project/data' } })
  })
})

describe('validation', () => {
  it('becomes a benchmark in the loop (CFG-10)', async () => {
    const { experiment, notices } = await planOf(
      inRun('validation: { dataset_id: org/val, eval_for_every: 50, metrics: [pass@1, { kind: pass_rate }] }'),
    )
    expect(experiment.metadata.benchmark).toEqual([
      expect.objectContaining({
        name: 'org_val',
        id: 'org/val',
        run_every: 50,
        metrics: ['pass@1', 'pass_rate'],
        split: 'val',
      }),
    ])
    expect(notices).toEqual([
      expect.objectContaining({ text: 'validation is written as an entry of metadata.benchmark now.' }),
    ])
  })

  it.each([
    [
      'a missing dataset',
      'validation: { eval_for_every: 5 }',
      /^8:15 CONFIG_INVALID run.validation.dataset_id: is missing/,
    ],
    [
      'a wrong cadence',
      'validation: { dataset_id: v, eval_for_every: 0 }',
      /^8:48 CONFIG_INVALID run.validation.eval_for_every: must be at least 1/,
    ],
    [
      'an unknown key',
      'validation: { dataset_id: v, eval_for_every: 1, every: 2 }',
      /^8:51 CONFIG_UNKNOWN_KEY run.validation.every/,
    ],
    [
      'params of a metric',
      'validation: { dataset_id: v, eval_for_every: 1, metrics: [{ kind: m, params: { a: 1 } }] }',
      /^8:80 CONFIG_INVALID .*takes no params/,
    ],
  ])('refuses %s at its place (CFG-10)', async (_name, yaml, fault) => {
    expect(await faultsIn(inRun(yaml))).toEqual([expect.stringMatching(fault)])
  })
})

describe('eval', () => {
  it('becomes a benchmark on the run’s data, with its inference client (CFG-10)', async () => {
    const { experiment } = await planOf(
      inRun('eval: { metrics: [{ kind: pass_at_k, params: { k: 1 } }], inference: { kind: mock }, n_samples: 20 }'),
    )
    expect(experiment.metadata.benchmark).toEqual([
      expect.objectContaining({
        name: 'eval',
        metrics: ['pass@1'],
        inference: { kind: 'mock', params: {} },
        limit: 20,
        run_every: 0,
        data: expect.objectContaining({ source_kind: 'in_memory', rows: [{ query: 'hi', tool_slug: 'greet' }] }),
      }),
    ])
  })

  it('takes eval_data where it is given (CFG-10)', async () => {
    const { experiment } = await planOf(
      inRun('eval: { metrics: [{ kind: pass@1 }], eval_data: { path: held-out.jsonl } }'),
    )
    expect(experiment.metadata.benchmark[0]?.data?.path).toBe('/project/held-out.jsonl')
  })

  it.each([
    ['disabled', 'eval: { enabled: false, metrics: [{ kind: pass@1 }] }'],
    ['without metrics', 'eval: {}'],
    ['with nothing but nulls', 'eval: { inference: null, eval_data: null, n_samples: null }'],
  ])('%s becomes nothing, and is still noted once (CFG-10)', async (_name, yaml) => {
    const { experiment, notices } = await planOf(inRun(yaml))
    expect(experiment.metadata.benchmark).toEqual([])
    expect(notices).toHaveLength(1)
  })

  it('is noted once for several runs that say the same, and refused when they differ (CFG-10)', async () => {
    const runs = (second: string) => `name: e
data: { path: a }
model: { name: m }
algorithm: { kind: sft }
runs:
  - { name: a, eval: { metrics: [{ kind: pass@1 }] } }
  - { name: b, eval: { metrics: [{ kind: ${second} }] } }
`
    const same = await planOf(runs('pass@1'))
    expect(same.experiment.metadata.benchmark).toHaveLength(1)
    expect(same.notices).toHaveLength(1)
    expect(await faultsIn(runs('pass_rate'))).toEqual([
      expect.stringMatching(/^7:16 CONFIG_CONFLICT runs.1.eval: benchmarks hold for every run/),
    ])
  })

  it('needs rows when axes supply the data (CFG-10)', async () => {
    const text =
      'name: e\nmatrix:\n  axes: { data.path: [a, b] }\nbase_run: { model: { name: m }, algorithm: { kind: sft }, eval: { metrics: [{ kind: pass@1 }] } }\n'
    expect(await faultsIn(text)).toEqual([
      expect.stringMatching(/^4:59 CONFIG_INVALID base_run.eval: there are no rows to evaluate on/),
    ])
  })

  it('stands beside benchmarks of today (CFG-10)', async () => {
    const text = `${inRun('eval: { metrics: [{ kind: pass@1 }] }')}metadata: { benchmark: { path: data/val } }\n`
    expect((await planOf(text)).experiment.metadata.benchmark.map(({ name }) => name)).toEqual(['val', 'eval'])
  })
})
