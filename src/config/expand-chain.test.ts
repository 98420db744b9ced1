import { describe, expect, it } from 'vitest'
import { faultsIn, planOf } from '../../tests/load-text.ts'

const run = `name: e
run:
  name: r
  tags: [mine]
  data: { path: first.jsonl }
  model: { name: m, init_from_checkpoint: ./start }
  algorithm: { kind: sft, params: { max_steps: 100 } }
`
const continual = `${run}continual:
  datasets: [{ path: a.jsonl }, { path: b.jsonl }]
`
const staged = `${run}stages:
  - algorithm: { kind: sft, params: { max_steps: 10 } }
  - algorithm: { kind: acme/rl }
    data: { path: tasks.jsonl }
`

describe('continual', () => {
  it('`datasets` make one run each, which starts from the one before (CFG-6)', async () => {
    const { arms, runs } = await planOf(continual)
    expect(runs.map(({ name, stage, after, config }) => ({ name, stage, after, path: config.data.path }))).toEqual([
      { name: 'r_stage0', stage: 0, after: undefined, path: '/project/a.jsonl' },
      { name: 'r_stage1', stage: 1, after: 'r_stage0', path: '/project/b.jsonl' },
    ])
    expect(arms.map(({ name, params }) => ({ name, params }))).toEqual([
      { name: 'r_stage0', params: { stage: 0 } },
      { name: 'r_stage1', params: { stage: 1 } },
    ])
  })

  it('tags its runs, and only the first starts from the run’s own checkpoint (CFG-6)', async () => {
    const [first, second] = (await planOf(continual)).runs
    expect(first?.config.tags).toEqual(['mine', 'continual', 'stage:0'])
    expect(second?.config.tags).toEqual(['mine', 'continual', 'stage:1'])
    expect(first?.config.model).toEqual({ name: 'm', init_from_checkpoint: '/project/start' })
    expect(second?.config.model).toEqual({ name: 'm' })
  })

  it('repeats as a whole, one group for each stage (CFG-5, CFG-6)', async () => {
    const { arms, runs } = await planOf(`${continual}n_repeats: 2\nbase_seed: 7\n`)
    expect(runs.map(({ name, arm, after }) => [name, arm, after])).toEqual([
      ['r_stage0__s7', 'r_stage0', undefined],
      ['r_stage1__s7', 'r_stage1', 'r_stage0__s7'],
      ['r_stage0__s8', 'r_stage0', undefined],
      ['r_stage1__s8', 'r_stage1', 'r_stage0__s8'],
    ])
    expect(arms.map(({ seeds }) => seeds)).toEqual([
      [7, 8],
      [7, 8],
    ])
    expect(runs[3]?.config.tags).toEqual(['mine', 'continual', 'stage:1', 'seed:8'])
  })

  it('`name_template` names stages, with padding (CFG-6)', async () => {
    const { runs } = await planOf(`${continual}  name_template: '{base}-part{i:03d}'\n`)
    expect(runs.map(({ name }) => name)).toEqual(['r-part000', 'r-part001'])
    expect(await faultsIn(`${continual}  name_template: '{base}-{n}'\n`)).toContainEqual(
      expect.stringMatching(/^10:18 CONFIG_NAME continual.name_template: \{n\} is neither \{base\} nor \{i\}/),
    )
    expect(await faultsIn(`${continual}  name_template: same\n`)).toEqual([
      expect.stringMatching(/^10:18 CONFIG_NAME continual.name_template: two arms are called "same"/),
    ])
  })

  it('needs no data in the run itself, and checks every dataset (CFG-6)', async () => {
    await expect(planOf(continual.replace('  data: { path: first.jsonl }\n', ''))).resolves.toBeDefined()
    expect(await faultsIn(continual.replace('{ path: b.jsonl }', '{ source_kind: in_memory }'))).toEqual([
      expect.stringMatching(/^9:33 CONFIG_INVALID continual.datasets.1.rows: is missing/),
    ])
    expect(await faultsIn(`${run}continual: {}\n`)).toEqual([
      expect.stringMatching(/^8:12 CONFIG_INVALID continual.datasets: is missing/),
    ])
  })

  it('may have an arm beside it that trains on all datasets for as long as the chain (CFG-6)', async () => {
    const { runs, arms } = await planOf(`${continual}  mix: true\nn_repeats: 2\n`)
    const mixed = runs.filter(({ arm }) => arm === 'r_mix')
    expect(mixed.map(({ name, after, stage }) => [name, after, stage])).toEqual([
      ['r_mix__s42', undefined, undefined],
      ['r_mix__s43', undefined, undefined],
    ])
    const [{ config } = expect.fail('no mix')] = mixed
    expect([config.data.path, ...(config.mix ?? []).map(({ path }) => path)]).toEqual(
      runs.slice(0, 2).map((run) => run.config.data.path),
    )
    expect(config.algorithm.params.max_steps).toBe(200)
    expect(config.tags).toEqual(['mine', 'continual', 'mix'])
    expect(arms.at(-1)).toMatchObject({ name: 'r_mix', params: { mix: true } })
    expect(runs.find(({ name }) => name === 'r_stage1__s43')?.after).toBe('r_stage0__s43')
    expect(runs[0]?.config).not.toHaveProperty('mix')
  })

  it('needs `run` (CFG-6)', async () => {
    const text =
      'name: e\nmatrix:\n  base_run: { data: { path: a }, model: { name: m }, algorithm: { kind: sft } }\ncontinual: { datasets: [{ path: a }] }\n'
    expect(await faultsIn(text)).toEqual([
      '4:1 CONFIG_CONFLICT continual: `continual` makes a chain of one run, and the file has `matrix`',
    ])
  })
})

describe('stages', () => {
  it('make one run for each recipe, named after its algorithm (CFG-6)', async () => {
    const { runs } = await planOf(staged)
    expect(
      runs.map(({ name, after, stage, config }) => [name, after, stage, config.algorithm.kind, config.data.path]),
    ).toEqual([
      ['r_stage0_sft', undefined, 0, 'sft', '/project/first.jsonl'],
      ['r_stage1_acme_rl', 'r_stage0_sft', 1, 'acme/rl', '/project/tasks.jsonl'],
    ])
    expect(runs[1]?.config.tags).toEqual(['mine', 'stages', 'stage:1', 'algo:acme/rl'])
  })

  it('may stand as a list or under `stages`, and mean the same (CFG-6)', async () => {
    const nested = staged
      .replace('stages:\n', 'stages:\n  stages:\n')
      .replaceAll('\n  - alg', '\n    - alg')
      .replace('\n    data: { path: tasks', '\n      data: { path: tasks')
    expect((await planOf(nested)).config_hash).toBe((await planOf(staged)).config_hash)
  })

  it('need no algorithm in the run itself (CFG-6)', async () => {
    const { experiment } = await planOf(staged.replace('  algorithm: { kind: sft, params: { max_steps: 100 } }\n', ''))
    expect(experiment.runs[0]?.algorithm.kind).toBe('sft')
  })

  it('repeat as a whole (CFG-5, CFG-6)', async () => {
    const { runs } = await planOf(`${staged}n_repeats: 2\n`)
    expect(runs.map(({ name }) => name)).toEqual([
      'r_stage0_sft__s42',
      'r_stage1_acme_rl__s42',
      'r_stage0_sft__s43',
      'r_stage1_acme_rl__s43',
    ])
  })

  it('exclude continual (CFG-6)', async () => {
    const faults = await faultsIn(`${staged}continual: { datasets: [{ path: a }] }\n`)
    expect(faults).toEqual(['8:1 CONFIG_CONFLICT stages: continual and stages both say how the run continues'])
  })

  it('are capped, each of them (CFG-12)', async () => {
    const { runs, arms } = await planOf(staged, { steps: 4 })
    expect(runs.map(({ config }) => config.algorithm.params.max_steps)).toEqual([4, 4])
    expect(arms.map(({ max_steps }) => max_steps)).toEqual([4, 4])
  })
})

describe('n_repeats and base_seed', () => {
  it('make runs named by seed and grouped by arm (CFG-5)', async () => {
    const { runs } = await planOf(`${run}n_repeats: 3\nbase_seed: 100\n`)
    expect(runs.map(({ name, arm, seed, config }) => [name, arm, seed, config.seed, config.name])).toEqual([
      ['r__s100', 'r', 100, 100, 'r__s100'],
      ['r__s101', 'r', 101, 101, 'r__s101'],
      ['r__s102', 'r', 102, 102, 'r__s102'],
    ])
  })

  it('count from each run’s own seed without base_seed (CFG-5)', async () => {
    const text =
      'name: e\ndata: { path: a }\nmodel: { name: m }\nalgorithm: { kind: sft }\nn_repeats: 2\nruns: [{ name: a, seed: 1 }, { name: b }]\n'
    expect((await planOf(text)).runs.map(({ name }) => name)).toEqual(['a__s1', 'a__s2', 'b__s42', 'b__s43'])
  })

  it('leave names alone when there is one run of an arm (CFG-5)', async () => {
    const { runs } = await planOf(`${run}base_seed: 3\n`)
    expect(runs.map(({ name, seed }) => [name, seed])).toEqual([['r', 3]])
  })

  it('are refused when seeds or runs run out (CFG-5)', async () => {
    expect(await faultsIn(`${run}n_repeats: 2\nbase_seed: 4294967295\n`)).toEqual([
      '9:12 CONFIG_INVALID base_seed: 2 seeds from 4294967295 on go beyond the largest seed',
    ])
    const axis = Array.from({ length: 11 }, (_, i) => i).join(', ')
    const text = `name: e\nn_repeats: 10000\nmatrix:\n  axes: { algorithm.params.x: [${axis}] }\nbase_run: { data: { path: a }, model: { name: m }, algorithm: { kind: sft } }\n`
    expect(await faultsIn(text)).toEqual([
      '2:12 CONFIG_MATRIX n_repeats: 11 arms with 10000 seeds each make 110000 runs, more than 100000',
    ])
  })
})

describe('--dry and --steps', () => {
  it('cap every arm, never raise it (CFG-12)', async () => {
    const text =
      'name: e\nmatrix:\n  axes: { algorithm.params.max_steps: [2, 100], algorithm.kind: [sft] }\nbase_run: { data: { path: a }, model: { name: m } }\n'
    const { arms } = await planOf(text, { steps: 20 })
    expect(arms.map(({ name, max_steps }) => [name, max_steps])).toEqual([
      ['e__max_steps2_kindsft', 2],
      ['e__max_steps100_kindsft', 20],
    ])
  })

  it('--dry writes rollouts and takes five steps, or as many as --steps says (CFG-12)', async () => {
    const dry = await planOf(run, { dry: true })
    expect(dry.experiment.log_rollouts).toBe(true)
    expect(dry.runs[0]?.config.algorithm.params.max_steps).toBe(5)
    expect((await planOf(run, { dry: true, steps: 9 })).runs[0]?.config.algorithm.params.max_steps).toBe(9)
    expect((await planOf(run)).experiment.log_rollouts).toBe(false)
  })

  it('give a length to runs that have none, and leave nonsense for the algorithm to refuse (CFG-12)', async () => {
    const none = run.replace('{ max_steps: 100 }', '{}')
    expect((await planOf(none, { steps: 3 })).runs[0]?.config.algorithm.params).toEqual({ max_steps: 3 })
    const text = run.replace('max_steps: 100', 'max_steps: many')
    expect((await planOf(text, { steps: 3 })).runs[0]?.config.algorithm.params).toEqual({ max_steps: 'many' })
  })

  it.each([0, -1, 1.5, Number.NaN])('refuse a cap of %s (CFG-12)', async (steps) => {
    await expect(planOf(run, { steps })).rejects.toMatchObject({ code: 'CLI_USAGE' })
  })
})
