import { describe, expect, it } from 'vitest'
import { faultsIn, minimal, planOf } from '../../tests/load-text.ts'

const withMetadata = (yaml: string) => `${minimal}metadata:\n  ${yaml.replaceAll('\n', '\n  ')}\n`
const val = '{ name: val, path: v, metrics: [pass@1, pass_rate] }'
const test = '{ name: test, path: t, metrics: [pass@1, mean_reward], split: test }'

it('explains the first hundred of very many unknown keys, and counts the others (CFG-60)', async () => {
  const faults = await faultsIn(`${minimal}${Array.from({ length: 20_000 }, (_, at) => `k${at}: 1\n`).join('')}`)
  expect(faults).toHaveLength(101)
  expect(faults.filter((fault) => fault.includes('19900 more keys are unknown'))).toHaveLength(1)
})

describe('benchmarks', () => {
  it('need something to score (CFG-9)', async () => {
    expect(await faultsIn(withMetadata('benchmark: [{ run_every: 5 }]'))).toEqual([
      '9:15 CONFIG_INVALID metadata.benchmark.0: the entry says nothing about what is scored',
    ])
    await expect(planOf(withMetadata('benchmark: [{ name: stored }]'))).resolves.toBeDefined()
  })

  it('have names that tell them apart, also where case does not count (CFG-9)', async () => {
    expect(await faultsIn(withMetadata('benchmark:\n  - { path: a/val }\n  - { path: b/Val }'))).toEqual([
      '11:15 CONFIG_NAME metadata.benchmark.1.path: two benchmarks are called "Val" (e.yaml:10)',
    ])
  })

  it('are named by id, path or number (CFG-9)', async () => {
    const { experiment } = await planOf(
      withMetadata('benchmark: [{ id: org/b }, { path: data/val/ }, { data: { path: x } }, { path: / }]'),
    )
    expect(experiment.metadata.benchmark.map(({ name }) => name)).toEqual([
      'org_b',
      'val',
      'benchmark_2',
      'benchmark_3',
    ])
  })

  it.each([
    [
      'pass@3',
      'num_samples: 2',
      '9:36 CONFIG_INVALID metadata.benchmark.0.metrics.0: pass@3 needs 3 samples of each task, and num_samples is 2',
      'set num_samples: 3 or more in this benchmark.',
    ],
    [
      'pass^8',
      'num_samples: 7',
      '9:36 CONFIG_INVALID metadata.benchmark.0.metrics.0: pass^8 needs 8 samples of each task, and num_samples is 7',
      'set num_samples: 8 or more in this benchmark.',
    ],
    [
      'pass@0',
      'num_samples: 1',
      '9:36 CONFIG_INVALID metadata.benchmark.0.metrics.0: pass@0 needs a k of 1 or more',
      'write pass@1.',
    ],
  ])('take as many samples as %s needs (CFG-9)', async (metric, samples, fault, fix) => {
    const text = withMetadata(`benchmark: [{ path: v, metrics: [${metric}], ${samples} }]`)
    expect(await faultsIn(text)).toEqual([fault])
    const error = await planOf(text).catch((cause) => cause)
    expect(error.problems[0].fix).toBe(fix)
    await expect(planOf(text.replace(samples, 'num_samples: 8').replace('pass@0', 'pass@1'))).resolves.toBeDefined()
  })

  it('on the test split in the loop are metered, with a notice (CFG-7)', async () => {
    const { notices } = await planOf(withMetadata('benchmark: [{ name: t, path: t, split: test, run_every: 200 }]'))
    expect(notices).toEqual([
      {
        text: expect.stringContaining('each test evaluation is metered'),
        where: expect.objectContaining({ line: 9, path: 'metadata.benchmark.0.run_every' }),
      },
    ])
  })
})

describe('the objective', () => {
  it.each([
    [
      'a named benchmark',
      `objective: { metric: val.pass_rate }\nbenchmark: [${val}, ${test}]`,
      { benchmark: 'val', metric: 'pass_rate', direction: 'max' },
    ],
    [
      'a bare metric, of the validation benchmark',
      `objective: { metric: pass@1, direction: min }\nbenchmark: [${test}, ${val}]`,
      { benchmark: 'val', metric: 'pass@1', direction: 'min' },
    ],
    [
      'the longest name that fits',
      'success_metric: a.b.pass_rate\nbenchmark: [{ name: a, path: x, metrics: [b.pass_rate] }, { name: a.b, path: y }]',
      { benchmark: 'a.b', metric: 'pass_rate', direction: 'max' },
    ],
    [
      'a shorter name where only that has the metric',
      'success_metric: a.b.c\nbenchmark: [{ name: a, path: x, metrics: [b.c] }, { name: a.b, path: y }]',
      { benchmark: 'a', metric: 'b.c', direction: 'max' },
    ],
    [
      'the first of several',
      'success_metric: pass_rate\nbenchmark: [{ path: x }, { path: y }]',
      { benchmark: 'x', metric: 'pass_rate', direction: 'max' },
    ],
  ])('is %s (CFG-7)', async (_what, yaml, objective) => {
    expect((await planOf(withMetadata(yaml))).objective).toEqual(objective)
  })

  it.each([
    [
      'selects on test',
      `objective: { metric: test.pass@1 }\nbenchmark: [${val}, ${test}]`,
      '9:24 CONFIG_OBJECTIVE metadata.objective.metric: test is a test benchmark: test confirms, validation selects',
    ],
    [
      'is a bare metric that only test has',
      `objective: { metric: mean_reward }\nbenchmark: [${val}, ${test}]`,
      '9:24 CONFIG_OBJECTIVE metadata.objective.metric: only the test benchmark "test" has the metric "mean_reward"',
    ],
    [
      'names a metric that the benchmark lacks',
      `objective: { metric: val.pass@3 }\nbenchmark: [${val}]`,
      '9:24 CONFIG_OBJECTIVE metadata.objective.metric: the benchmark "val" has no metric "pass@3"',
    ],
    [
      'names no benchmark',
      `objective: { metric: vla.pass@1 }\nbenchmark: [${val}]`,
      '9:24 CONFIG_OBJECTIVE metadata.objective.metric: no benchmark declares "vla.pass@1"',
    ],
    [
      'has nothing to be measured on',
      'success_metric: pass@1',
      '9:19 CONFIG_OBJECTIVE metadata.success_metric: no benchmark is declared that could give "pass@1"',
    ],
  ])('is refused when it %s (CFG-7)', async (_what, yaml, fault) => {
    expect(await faultsIn(withMetadata(yaml))).toEqual([fault])
  })

  it.each(['test.pass@1', 'pass@1'])('selects nothing where only test is declared: %s (CFG-7)', async (metric) => {
    const { objective, notices } = await planOf(withMetadata(`objective: { metric: ${metric} }\nbenchmark: [${test}]`))
    expect(objective).toBeUndefined()
    expect(notices.map(({ text }) => text)).toEqual([
      'Only test benchmarks are declared: scores are reported, nothing is selected by them.',
    ])
  })
})

const matrix = (claim: string, axes = '{ algorithm.kind: [sft, focal], algorithm.params.lr: [1, 2] }') => `name: e
n_repeats: 3
matrix:
  axes: ${axes}
base_run: { data: { path: a }, model: { name: m } }
metadata:
  success_metric: val.pass_rate
  benchmark: [${val}, ${test}]
  claim: ${claim}
`

describe('a claim', () => {
  it.each([
    ['none', '', 'min'],
    ['the same', ', metric: val.pass_rate', 'min'],
    ['another', ', metric: test.pass@1', 'max'],
  ])('has the direction of the objective where its metric is %s (CFG-8)', async (_what, metric, direction) => {
    const text = matrix(`{ treatment: { algorithm.kind: focal }, baseline: { algorithm.kind: sft }${metric} }`)
    const { claim } = await planOf(
      text.replace('success_metric: val.pass_rate', 'objective: { metric: val.pass_rate, direction: min }'),
    )
    expect(claim?.direction).toBe(direction)
  })

  it('pairs arms by the axes that it does not name (CFG-8)', async () => {
    const { claim, notices } = await planOf(
      matrix('{ treatment: { algorithm.kind: focal }, baseline: { algorithm.kind: sft }, min_effect: 0.02 }'),
    )
    expect(claim).toEqual({
      benchmark: 'val',
      metric: 'pass_rate',
      direction: 'max',
      pairs: [
        { treatment: 'e__kindfocal_lr1', baseline: 'e__kindsft_lr1' },
        { treatment: 'e__kindfocal_lr2', baseline: 'e__kindsft_lr2' },
      ],
      min_effect: 0.02,
      confidence: 0.9,
    })
    expect(notices).toEqual([])
  })

  it.each([
    ['names', '{ treatment: e__kindfocal_lr1, baseline: e__kindsft_lr2 }', [['e__kindfocal_lr1', 'e__kindsft_lr2']]],
    [
      'values of all axes',
      '{ treatment: { algorithm.kind: focal, algorithm.params.lr: 1 }, baseline: { algorithm.kind: sft, algorithm.params.lr: 2 } }',
      [['e__kindfocal_lr1', 'e__kindsft_lr2']],
    ],
    [
      'the base model',
      '{ treatment: { algorithm.params.lr: 1 }, baseline: base_model }',
      [
        ['e__kindsft_lr1', 'base_model'],
        ['e__kindfocal_lr1', 'base_model'],
      ],
    ],
    [
      'the base model as treatment',
      '{ treatment: base_model, baseline: e__kindsft_lr1 }',
      [['base_model', 'e__kindsft_lr1']],
    ],
  ])('names arms by %s (CFG-8)', async (_what, claim, pairs) => {
    const plan = await planOf(matrix(claim))
    expect(plan.claim?.pairs.map(({ treatment, baseline }) => [treatment, baseline])).toEqual(pairs)
  })

  it('pairs arms by the other axes when it names part of an axis value (CFG-8)', async () => {
    const axes = '{ algorithm: [{ kind: sft, params: { a: 1 } }, { kind: focal }], data.path: [a, b] }'
    const plan = await planOf(
      matrix('{ treatment: { algorithm.kind: focal }, baseline: { algorithm.kind: sft } }', axes),
    )
    expect(plan.claim?.pairs.map(({ treatment, baseline }) => [treatment, baseline])).toEqual([
      [expect.stringMatching(/focal.*patha/), expect.stringMatching(/sft.*patha/)],
      [expect.stringMatching(/focal.*pathb/), expect.stringMatching(/sft.*pathb/)],
    ])
  })

  it('may be about test, which confirms (CFG-8)', async () => {
    const { claim } = await planOf(
      matrix('{ treatment: { algorithm.kind: focal }, baseline: base_model, metric: test.pass@1 }'),
    )
    expect(claim).toMatchObject({ benchmark: 'test', metric: 'pass@1' })
  })

  it('names runs by any of their values, and stages by their number (CFG-8)', async () => {
    const runs = `name: e\ndata: { path: a }\nmodel: { name: m }\nalgorithm: { kind: sft }\nruns: [{ name: a, seed: 1 }, { name: b, seed: 2 }]\nmetadata: { benchmark: [${val}], claim: { treatment: { seed: 2 }, baseline: a, metric: pass_rate } }\n`
    expect((await planOf(runs)).claim?.pairs).toEqual([{ treatment: 'b', baseline: 'a' }])
    const stages = `${minimal}stages: [{ algorithm: { kind: a } }, { algorithm: { kind: b } }]\nmetadata: { benchmark: [${val}], claim: { treatment: { stage: 1 }, baseline: { stage: 0 }, metric: pass_rate } }\n`
    expect((await planOf(stages)).claim?.pairs).toEqual([{ treatment: 'r_stage1_b', baseline: 'r_stage0_a' }])
  })

  it.each([
    [
      'an arm that is not there',
      '{ treatment: e__kindfocal_lr3, baseline: base_model }',
      '9:23 CONFIG_CLAIM metadata.claim.treatment: no arm is called "e__kindfocal_lr3"',
    ],
    [
      'values that no arm has',
      '{ treatment: { algorithm.kind: rl }, baseline: base_model }',
      '9:23 CONFIG_CLAIM metadata.claim.treatment: no arm has these values',
    ],
    [
      'an axis that is not there',
      '{ treatment: { algorithm.kidn: sft }, baseline: base_model }',
      '9:25 CONFIG_CLAIM metadata.claim.treatment."algorithm.kidn": no arm has a value at `algorithm.kidn`',
    ],
    [
      'nothing',
      '{ treatment: {}, baseline: base_model }',
      '9:23 CONFIG_CLAIM metadata.claim.treatment: the reference is empty',
    ],
    [
      'the same arm twice',
      '{ treatment: e__kindsft_lr1, baseline: { algorithm.kind: sft } }',
      '9:10 CONFIG_CLAIM metadata.claim: both sides mean e__kindsft_lr1',
    ],
    [
      'the base model twice',
      '{ treatment: base_model, baseline: base_model }',
      '9:10 CONFIG_CLAIM metadata.claim: both sides are the base model',
    ],
    [
      'arms that cannot be paired',
      '{ treatment: { algorithm.kind: focal }, baseline: { algorithm.kind: sft, algorithm.params.lr: 1 } }',
      /^9:10 CONFIG_CLAIM metadata.claim: the arms of the two sides cannot be paired: e__kindfocal_lr1, e__kindfocal_lr2 against e__kindsft_lr1/,
    ],
    [
      'an unknown metric',
      '{ treatment: e__kindfocal_lr1, baseline: base_model, metric: nope }',
      '9:71 CONFIG_CLAIM metadata.claim.metric: no benchmark declares "nope"',
    ],
  ])('is refused for %s (CFG-8)', async (_what, claim, fault) => {
    expect(await faultsIn(matrix(claim))).toEqual([typeof fault === 'string' ? fault : expect.stringMatching(fault)])
  })

  it('needs a metric (CFG-8)', async () => {
    const text = `${minimal}metadata: { benchmark: [${val}], claim: { treatment: r, baseline: base_model } }\n`
    expect(await faultsIn(text)).toEqual([
      expect.stringMatching(/CONFIG_CLAIM metadata.claim.metric: the claim has no metric/),
    ])
  })

  it('that rests on one seed is noted (CFG-8)', async () => {
    const { notices } = await planOf(
      matrix('{ treatment: { algorithm.kind: focal }, baseline: base_model }').replace('n_repeats: 3\n', ''),
    )
    expect(notices.map(({ text }) => text)).toEqual([expect.stringContaining('rests on one seed')])
  })
})

describe('budgets', () => {
  it.each([
    ['90', 90],
    ['90s', 90],
    ['1h30m', 5400],
    ['2d', 172_800],
    ['500ms', 0.5],
  ])('take %s as a duration (CFG-11)', async (wall, seconds) => {
    expect((await planOf(`${minimal}budget: { wall: ${wall} }\n`)).experiment.budget).toEqual({ wall: seconds })
  })

  it.each(['0', '-5', '10 minutes', '1y', 'fast', '""'])('refuse %s as a duration (CFG-11)', async (wall) => {
    expect(await faultsIn(`${minimal}budget: { wall: ${wall} }\n`)).toEqual([
      expect.stringMatching(/^8:17 CONFIG_INVALID budget.wall/),
    ])
  })
})

describe('agent_import_path', () => {
  const text = (path: string) =>
    minimal.replace('{ kind: sft, params: { max_steps: 1 } }', `{ kind: rl, params: { agent_import_path: ${path} } }`)

  it.each(['my_project.agents.ToolUseAgent', 'agents:ToolUse', 'a.B'])(
    'takes the Python class %s as it is (CFG-15)',
    async (path) => {
      expect((await planOf(text(path))).runs[0]?.config.algorithm.params.agent_import_path).toBe(path)
    },
  )

  it('takes a file with an export, relative to the experiment, or a kind (CFG-16)', async () => {
    const file = await planOf(text('"./src/plugins/agent.ts#ToolUse"'))
    expect(file.runs[0]?.config.algorithm.params.agent_import_path).toBe('/project/src/plugins/agent.ts#ToolUse')
    expect((await planOf(text('basic_loop'))).runs[0]?.config.algorithm.params.agent_import_path).toBe('basic_loop')
  })
})
