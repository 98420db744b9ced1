import { describe, expect, it } from 'vitest'
import { faultsIn, minimal, planOf } from '../../tests/load-text.ts'

const parts = 'data: { path: a.jsonl }\nmodel: { name: m }\nalgorithm: { kind: sft, params: { max_steps: 5 } }\n'

describe('run, runs and matrix', () => {
  it('exclude each other, and one of them is needed (CFG-1)', async () => {
    expect(await faultsIn('name: e\n')).toEqual(['1:1 CONFIG_INVALID nothing is run: there is no run, runs or matrix'])
    expect(await faultsIn(`${minimal}runs: [{ name: a }]\n`)).toContainEqual(
      '8:1 CONFIG_CONFLICT runs: `runs` stands beside `run` (e.yaml:2)',
    )
    expect(await faultsIn(`${minimal}matrix: { axes: { seed: [1] } }\n`)).toContainEqual(
      '8:1 CONFIG_CONFLICT matrix: `matrix` stands beside `run` (e.yaml:2)',
    )
  })

  it('count `null` as absent (CFG-1)', async () => {
    await expect(planOf(`${minimal}runs: null\nmatrix:\n`)).resolves.toBeDefined()
  })

  it('an empty list of runs is refused (CFG-1)', async () => {
    expect(await faultsIn(`name: e\nruns: []\n`)).toEqual(['2:7 CONFIG_INVALID runs: the list is empty'])
  })

  it('several runs need names of their own (CFG-1)', async () => {
    expect(await faultsIn(`name: e\n${parts}runs: [{ name: a }, { seed: 1 }]\n`)).toEqual([
      '5:21 CONFIG_INVALID runs.1.name: is missing: expected text',
    ])
    expect(await faultsIn(`name: e\n${parts}runs: [{ name: a }, { name: a }]\n`)).toEqual([
      '5:29 CONFIG_NAME runs.1.name: two arms are called "a" (e.yaml:5)',
    ])
    expect(await faultsIn(`name: e\n${parts}runs: [{ name: a }, { name: A }]\n`)).toEqual([
      '5:29 CONFIG_NAME runs.1.name: the arms "a" and "A" share one folder where case does not count',
    ])
    expect(await faultsIn(`name: e\n${parts}runs: [{ name: base_model }]\n`)).toEqual([
      expect.stringMatching(/^5:16 CONFIG_NAME runs.0.name: base_model means the untrained model/),
    ])
  })
})

describe('root shorthand', () => {
  it('means a run, which takes the experiment’s name (CFG-1)', async () => {
    const { runs } = await planOf(`name: e\n${parts}backend: { kind: mock }\nagent: { kind: a }\nseed: 3\n`)
    expect(runs.map(({ name, config }) => [name, config.backend.kind, config.agent?.kind, config.seed])).toEqual([
      ['e', 'mock', 'a', 3],
    ])
  })

  it('is laid under an explicit run, which wins where both say something, with a notice (CFG-1)', async () => {
    const { runs } = await planOf(`name: e\n${parts}run: { name: r, algorithm: { params: { lora_rank: 4 } } }\n`)
    expect(runs[0]?.config.algorithm).toEqual({ kind: 'sft', params: { max_steps: 5, lora_rank: 4 } })
    const twice = await planOf(`name: e\n${parts}run: { model: { name: other } }\n`)
    expect(twice.runs[0]?.config.model.name).toBe('other')
    expect(twice.notices).toEqual([
      {
        text: 'The value at e.yaml:5, in the run itself, wins over this one.',
        where: { file: 'e.yaml', line: 3, col: 16, path: 'model.name' },
      },
    ])
  })

  it('is a default for each of several runs (CFG-1)', async () => {
    const { runs } = await planOf(
      `name: e\n${parts}runs: [{ name: a }, { name: b, algorithm: { params: { max_steps: 9 } }, model: { name: other } }]\n`,
    )
    expect(runs.map(({ config }) => [config.model.name, config.algorithm.params.max_steps])).toEqual([
      ['m', 5],
      ['other', 9],
    ])
  })

  it('is the base run of a matrix (CFG-1)', async () => {
    const { runs } = await planOf(`name: e\n${parts}matrix: { axes: { seed: [1, 2] } }\n`)
    expect(runs.map(({ name }) => name)).toEqual(['e__seed1', 'e__seed2'])
  })

  it('points at the root when a part is missing (CFG-1)', async () => {
    expect(await faultsIn('name: e\ndata: { path: a }\nmodel: { name: m }\n')).toEqual([
      '1:1 CONFIG_INVALID algorithm: is missing: expected a mapping',
    ])
  })

  it('leaves what is wrong with the run to be told (CFG-1)', async () => {
    expect(await faultsIn(`name: e\n${parts}run: 3\n`)).toEqual(['5:6 CONFIG_INVALID run: expected a mapping, got 3'])
    expect(await faultsIn(`name: e\n${parts}matrix: 3\n`)).toEqual([
      expect.stringMatching(/^5:9 CONFIG_MATRIX matrix: expected a mapping/),
    ])
    expect(await faultsIn(`name: e\n${parts}runs: 3\n`)).toEqual(['5:7 CONFIG_INVALID runs: expected a list of runs'])
  })

  it('checks a default that every run replaces (CFG-1)', async () => {
    const text = `name: e\n${parts.replace('{ max_steps: 5 }', '3')}runs: [{ name: a, algorithm: { params: {} } }]\n`
    expect(await faultsIn(text)).toEqual(['4:33 CONFIG_INVALID algorithm.params: expected a mapping, got 3'])
  })
})

describe('base_run beside matrix', () => {
  it('is the base run (CFG-1)', async () => {
    const text = `name: e\nmatrix: { axes: { seed: [1] } }\nbase_run: { name: b, data: { path: a }, model: { name: m }, algorithm: { kind: sft } }\n`
    expect((await planOf(text)).runs.map(({ name }) => name)).toEqual(['b__seed1'])
  })

  it('may complete one inside it, without saying anything twice (CFG-1)', async () => {
    const text = (model: string) =>
      `name: e\nmatrix: { base_run: { model: { name: m } } }\nbase_run: { data: { path: a }, algorithm: { kind: sft }${model} }\n`
    await expect(planOf(text(''))).resolves.toBeDefined()
    expect(await faultsIn(text(', model: { name: n }'))).toEqual([
      '3:73 CONFIG_CONFLICT base_run.model.name: given twice: here and at e.yaml:2',
    ])
  })

  it('needs a matrix (CFG-1)', async () => {
    expect(await faultsIn(`${minimal}base_run: { name: b }\n`)).toEqual([
      '8:1 CONFIG_CONFLICT base_run: base_run is the template of a matrix, and there is none',
    ])
  })
})

describe('success_metric', () => {
  it('excludes objective (CFG-7)', async () => {
    const text = `${minimal}metadata:\n  objective: { metric: pass_rate }\n  success_metric: pass_rate\n  benchmark: { path: v }\n`
    expect(await faultsIn(text)).toEqual([
      '10:3 CONFIG_CONFLICT metadata.success_metric: success_metric is short for objective, which stands at e.yaml:9',
    ])
  })
})
