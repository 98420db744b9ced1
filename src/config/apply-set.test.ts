import { describe, expect, it } from 'vitest'
import { faultsIn, minimal, planOf } from '../../tests/load-text.ts'

const set = (...assignments: string[]) => ({ set: assignments })
const parts = 'data: { path: a.jsonl }\nmodel: { name: m }\nalgorithm: { kind: sft, params: { max_steps: 5 } }\n'

describe('--set', () => {
  it.each([
    ['text', 'description=hello', 'description', 'hello'],
    ['a number', 'n_repeats=2', 'n_repeats', 2],
    ['a list', 'callbacks=[{kind: a}]', 'callbacks', [{ kind: 'a', params: {} }]],
    ['nothing, which removes', 'description=', 'description', ''],
    ['null, which removes', 'version=null', 'version', 1],
    ['text in quotes', 'description="a: b"', 'description', 'a: b'],
    ['a value that holds =', 'description=a=b', 'description', 'a=b'],
  ])('takes %s as a YAML value (CFG-4)', async (_what, assignment, key, value) => {
    const { experiment } = await planOf(`${minimal}description: old\n`, set(assignment))
    expect(Reflect.get(experiment, key)).toEqual(value)
  })

  it('reaches into lists by index and by name, and into keys that hold dots (CFG-4)', async () => {
    const text = `${minimal}metadata: { benchmark: [{ name: val, path: a }, { name: test, path: b }], extra: { a.b: { "c d": 1 } } }\n`
    const { experiment } = await planOf(
      text,
      set(
        'metadata.benchmark.0.limit=5',
        'metadata.benchmark.test.limit=6',
        'metadata.extra."a.b"."c d"=2',
        "metadata.extra.'x.y'=3",
        'metadata.extra.p\\.q=4',
      ),
    )
    expect(experiment.metadata.benchmark.map(({ limit }) => limit)).toEqual([5, 6])
    expect(experiment.metadata.extra).toEqual({ 'a.b': { 'c d': 2 }, 'x.y': 3, 'p.q': 4 })
  })

  it('makes what is missing on the way, and adds to the end of a list (CFG-4)', async () => {
    const { experiment } = await planOf(
      minimal,
      set('metadata.extra.deep.er=1', 'callbacks.0.kind=a', 'callbacks.1.kind=b', 'metadata.tags.0=x'),
    )
    expect(experiment.metadata.extra).toEqual({ deep: { er: 1 } })
    expect(experiment.callbacks.map(({ kind }) => kind)).toEqual(['a', 'b'])
    expect(experiment.metadata.tags).toEqual(['x'])
  })

  it('addresses every arm by paths of a run (CFG-4)', async () => {
    const one = await planOf(minimal, set('algorithm.params.max_steps=9', 'seed=3', 'tags=[t]'))
    expect(one.runs.map(({ config }) => [config.algorithm.params.max_steps, config.seed, config.tags])).toEqual([
      [9, 3, ['t']],
    ])
    const several = await planOf(
      `name: e\n${parts}runs: [{ name: a }, { name: b, seed: 1 }]\n`,
      set('seed=7', 'runs.b.tags=[x]', 'runs.0.tags=[y]'),
    )
    expect(several.runs.map(({ config }) => [config.seed, config.tags])).toEqual([
      [7, ['y']],
      [7, ['x']],
    ])
    const matrix = await planOf(`name: e\n${parts}matrix: { axes: { seed: [1, 2] } }\n`, set('model.name=other'))
    expect(matrix.runs.map(({ config }) => config.model.name)).toEqual(['other', 'other'])
  })

  it('addresses the stages of a chain, which are arms too (CFG-4)', async () => {
    const stages = `${minimal}stages: [{ algorithm: { kind: a } }, { algorithm: { kind: b }, data: { path: b.jsonl } }]\n`
    const staged = await planOf(stages, set('algorithm.params.max_steps=3', 'data={path: x.jsonl}'))
    expect(staged.runs.map(({ config }) => [config.algorithm, config.data.path])).toEqual([
      [{ kind: 'a', params: { max_steps: 3 } }, '/project/x.jsonl'],
      [{ kind: 'b', params: { max_steps: 3 } }, '/project/x.jsonl'],
    ])
    const chain = await planOf(
      `${minimal}continual: { datasets: [{ path: a }, { path: b }] }\n`,
      set('data.transforms=[{kind: t}]'),
    )
    expect(chain.runs.map(({ config }) => config.data.transforms.map(({ kind }) => kind))).toEqual([['t'], ['t']])
    const one = await planOf(stages, set('stages.1.algorithm.kind=c', 'stages.stages.0.algorithm.kind=d'))
    expect(one.runs.map(({ config }) => config.algorithm.kind)).toEqual(['d', 'c'])
  })

  it('replaces an axis of the same path, and reaches into values of one above (CFG-4)', async () => {
    const text = `name: e\n${parts}matrix: { axes: { seed: [1, 2], backend: [{ kind: a }, { kind: b }] } }\n`
    const { runs } = await planOf(text, set('seed=5', 'backend.params.x=1'))
    expect(runs.map(({ name, config }) => [name, config.seed, config.backend])).toEqual([
      ['e__seed5_backenda', 5, { kind: 'a', params: { x: 1 } }],
      ['e__seed5_backendb', 5, { kind: 'b', params: { x: 1 } }],
    ])
  })

  it('takes axes without quotes (CFG-4)', async () => {
    const text = `name: e\n${parts}matrix: { axes: { seed: [1] } }\n`
    const { runs } = await planOf(text, set('matrix.axes.algorithm.params.x=[1, 2]', 'matrix.axes.seed=[3]'))
    expect(runs.map(({ name }) => name)).toEqual(['e__seed3_x1', 'e__seed3_x2'])
  })

  it('wins over the file in short and long form (CFG-4)', async () => {
    const text = `${minimal}metadata: { objective: { metric: v.pass_rate }, benchmark: { name: v, path: v, models: [a] } }\n`
    const plan = await planOf(text, set('metadata.success_metric=v.mean_reward', 'metadata.benchmark.v.model=b'))
    expect(plan.objective?.metric).toBe('mean_reward')
    expect(plan.experiment.metadata.benchmark[0]?.models).toEqual(['b'])
    const bare = await planOf('name: e\n', set('data.path=a', 'model.name=m', 'algorithm={kind: sft}'))
    expect(bare.runs[0]?.config.data.path).toBe('/project/a')
  })

  it('resolves paths from the working folder (CFG-16)', async () => {
    const { runs } = await planOf(minimal, { ...set('data={path: x.jsonl}'), cwd: '/elsewhere' })
    expect(runs[0]?.config.data.path).toBe('/elsewhere/x.jsonl')
  })

  it('applies in order (CFG-4)', async () => {
    expect((await planOf(minimal, set('n_repeats=2', 'n_repeats=3'))).experiment.n_repeats).toBe(3)
  })

  it.each([
    ['no =', 'n_repeats', '--set:2:1 CONFIG_SET there is no = between a path and a value'],
    ['no path', '=3', '--set:2:1 CONFIG_SET a step of the path is empty'],
    ['an empty step', 'a..b=3', '--set:2:3 CONFIG_SET a step of the path is empty'],
    ['an open quote', '"a=3', '--set:2:1 CONFIG_SET the quote is not closed'],
    ['text after a quote', '"a"b=3', '--set:2:4 CONFIG_SET a dot is missing after the quote'],
    ['a lone backslash', 'a\\=3', '--set:2:2 CONFIG_SET nothing follows the backslash'],
    ['a value that is not YAML', 'description=[', '--set:2:13 CONFIG_SET this bracket is never closed'],
    [
      'a path through plain text',
      'name.x=3',
      '--set:2:1 CONFIG_SET name.x: cannot set `name.x`: `name` is a plain value and holds no keys',
    ],
    [
      'an index beyond a list',
      'run.data.rows.7=3',
      '--set:2:1 CONFIG_SET run.data.rows.7: cannot set `run.data.rows.7`: `run.data.rows` is a list of 1, and 7 is no item of it',
    ],
    [
      'a name that no item has',
      'run.data.rows.x=3',
      '--set:2:1 CONFIG_SET run.data.rows.x: cannot set `run.data.rows.x`: `run.data.rows` is a list of 1, and "x" is no item of it',
    ],
    [
      'a value of the wrong type',
      'n_repeats=many',
      '--set:2:11 CONFIG_INVALID n_repeats: expected a whole number, got "many"',
    ],
    ['an unknown key', 'n_repeat=3', '--set:2:1 CONFIG_UNKNOWN_KEY n_repeat: unknown key "n_repeat"'],
    ['an unknown key of a run', 'model.nam=3', '--set:2:1 CONFIG_UNKNOWN_KEY model.nam: unknown key "nam"'],
    ['extends', 'extends=x', '--set:2:1 CONFIG_SET extends: extends is followed before --set is applied'],
    [
      'a second form',
      'matrix.axes.seed=[1]',
      '--set:2:1 CONFIG_CONFLICT matrix.axes.seed: `matrix` stands beside `run`',
    ],
  ])('refuses %s, at its place in the arguments (CFG-4, ERR-2)', async (_what, assignment, fault) => {
    const [first] = await faultsIn(minimal, set('seed=1', assignment))
    expect(first).toContain(fault)
  })

  it('refuses a path with an axis below it, which would undo it (CFG-4)', async () => {
    const text = `name: e\n${parts}matrix: { axes: { algorithm.params.x: [1] } }\n`
    expect(await faultsIn(text, set('algorithm.params={}'))).toEqual([
      '--set:1:1 CONFIG_SET algorithm.params: the axis `algorithm.params.x` lies inside what is set',
    ])
    expect(await faultsIn(text, set('algorithm.params.x.y=1'))).toEqual([
      '--set:1:1 CONFIG_SET algorithm.params.x.y: cannot set `algorithm.params.x.y`: the axis `algorithm.params.x` has values that hold no keys',
    ])
  })

  it('tells all of its problems after those of the file (ERR-1)', async () => {
    expect(await faultsIn(`${minimal}version: 2\n`, set('n_repeats=0', 'x', 'seed=-1'))).toEqual([
      '8:10 CONFIG_INVALID version: this evsys reads version 1',
      '--set:1:11 CONFIG_INVALID n_repeats: must be at least 1, got 0',
      '--set:2:1 CONFIG_SET there is no = between a path and a value',
      '--set:3:6 CONFIG_INVALID seed: must be at least 0, got -1',
    ])
  })
})
