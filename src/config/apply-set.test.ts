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

describe('--set into a chain or a matrix', () => {
  const chain = `name: e
run: { name: r, data: { path: a }, model: { name: m }, algorithm: { kind: sft, params: { lr: 1, keep: 2 } } }
`
  const datasets = `${chain}continual: { datasets: [{ path: b }, { path: c }] }\n`
  const stages = `${chain}stages: [{ algorithm: { kind: sft } }, { algorithm: { kind: rl }, data: { path: d } }]\n`
  const matrix = `name: e
matrix: { axes: { algorithm.kind: [sft, rl] }, base_run: { data: { path: a }, model: { name: m } } }
`

  it('changes datasets by paths of data alone (CFG-4, CFG-6)', async () => {
    const seeded = await planOf(datasets, { set: ['seed=3'] })
    expect(seeded.runs.map(({ seed, config }) => [seed, config.data.path])).toEqual([
      [3, '/project/b'],
      [3, '/project/c'],
    ])
    const { runs } = await planOf(datasets, { set: ['data.path=z'] })
    expect(runs.map(({ config }) => config.data.path)).toEqual(['/project/z', '/project/z'])
  })

  it('changes stages in what they say for themselves alone (CFG-4, CFG-6)', async () => {
    const { runs } = await planOf(stages, { set: ['data.path=z', 'model.name=n'] })
    expect(runs.map(({ config }) => [config.algorithm.kind, config.data.path, config.model.name])).toEqual([
      ['sft', '/project/z', 'n'],
      ['rl', '/project/z', 'n'],
    ])
    const { experiment } = await planOf(stages, { set: ['data.path=z'] })
    expect(experiment.stages?.stages.map((stage) => stage.data?.path)).toEqual([undefined, '/project/z'])
  })

  it('takes the short forms of a file: base_run, a stage by its number, an axis by its path (CFG-4)', async () => {
    expect((await planOf(matrix, { set: ['base_run.seed=5'] })).runs.map(({ seed }) => seed)).toEqual([5, 5])
    expect((await planOf(stages, { set: ['stages.1.data.path=z'] })).runs[1]?.config.data.path).toBe('/project/z')
    const axis = await planOf(matrix, { set: ['matrix.axes."algorithm.kind"=[dpo]', 'matrix.axes.seed=[1, 2]'] })
    expect(axis.arms.map(({ params }) => params)).toEqual([
      { 'algorithm.kind': 'dpo', seed: 1 },
      { 'algorithm.kind': 'dpo', seed: 2 },
    ])
    const named = await planOf(matrix, { set: ['matrix.name_template="{base}-{algorithm.kind}"'] })
    expect(named.arms.map(({ name }) => name)).toEqual(['e-sft', 'e-rl'])
  })

  it('removes a parameter that is set to null, and no other (CFG-4)', async () => {
    const { runs } = await planOf(chain, { set: ['algorithm.params.lr=null'] })
    expect(runs[0]?.config.algorithm.params).toEqual({ keep: 2 })
  })

  it('says how to name an item of a list, or a value beside a plain one (CFG-4, ERR-1)', async () => {
    const list = `${chain}metadata: { benchmark: [{ name: val, path: v }] }\n`
    const problem = async (set: string[]) => {
      const error = await planOf(list, { set }).catch((cause) => cause)
      return error.problems.map((each: { message: string; fix: string; where: object; excerpt: object }) => ({
        ...each,
      }))
    }
    expect(await problem(['metadata.benchmark.7.limit=1'])).toMatchObject([
      {
        message: 'cannot set `metadata.benchmark.7.limit`: `metadata.benchmark` is a list of 1, and 7 is no item of it',
        fix: 'items of a list are numbered from 0; benchmarks and runs also go by name.',
      },
    ])
    expect(await problem(['name.x=1'])).toMatchObject([
      {
        message: 'cannot set `name.x`: `name` is a plain value and holds no keys',
        fix: 'set `name` itself, or a path beside it.',
      },
    ])
    expect(await problem(['seed=1', 'a..b=1'])).toMatchObject([
      { message: 'a step of the path is empty', where: { line: 2, col: 3 }, excerpt: { text: 'a..b=1', length: 2 } },
    ])
  })
})
