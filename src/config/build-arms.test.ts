import { describe, expect, it } from 'vitest'
import { faultsIn, planOf } from '../../tests/load-text.ts'

const body = 'data: { path: a }, model: { name: m }, algorithm: { kind: sft, params: { max_steps: 4 } }'

describe('runs', () => {
  it.each([
    ['[]', ['2:7 CONFIG_INVALID runs: the list is empty']],
    ['{ a: 1 }', ['2:7 CONFIG_INVALID runs: expected a list of runs']],
    ['[5]', [expect.stringMatching(/^2:8 CONFIG_INVALID runs.0: expected a mapping/)]],
  ])('written as %s are refused where they stand (CFG-1, ERR-1)', async (runs, faults) => {
    expect(await faultsIn(`name: e\nruns: ${runs}\n`)).toEqual(faults)
  })

  it('have the name of the experiment where there is one, and a name each where there are several (CFG-1)', async () => {
    expect((await planOf(`name: e\nruns: [{ ${body} }]\n`)).runs.map(({ name }) => name)).toEqual(['e'])
    expect(await faultsIn(`name: e\nruns: [{ ${body} }, { name: b, ${body} }]\n`)).toEqual([
      expect.stringMatching(/^2:8 CONFIG_INVALID runs.0.name: is missing/),
    ])
  })
})

describe('a chain that is not well formed', () => {
  it.each([
    ['stages: [{ data: { path: b } }]', /^3:10 CONFIG_INVALID stages.0.algorithm: is missing/],
    ['stages: [{ algorithm: { kind: sft } }, { data: { path: b } }]', /^3:40 CONFIG_INVALID stages.1.algorithm/],
    ['continual: { datasets: [] }', /^3:24 CONFIG_INVALID continual.datasets: /],
    ['continual: { datasets: 5 }', /^3:24 CONFIG_INVALID continual.datasets: /],
    ["continual: { datasets: [{ path: b }], name_template: '{base}-{n}' }", /^3:54 CONFIG_NAME .*\{n\} is neither/],
  ])('as %s is reported alone, and not what it would supply (CFG-6, ERR-1)', async (chain, says) => {
    const run = 'run: { name: r, model: { name: m }, algorithm: { kind: sft } }'
    expect(await faultsIn(`name: e\n${run}\n${chain}\n`)).toEqual([expect.stringMatching(says)])
  })

  it('beside runs or a matrix, or beside another chain, is a conflict (CFG-1, CFG-6)', async () => {
    const continual = 'continual: { datasets: [{ path: b }] }\n'
    expect(await faultsIn(`name: e\nruns: [{ name: a, ${body} }, { name: b, ${body} }]\n${continual}`)).toEqual([
      '3:1 CONFIG_CONFLICT continual: `continual` makes a chain of one run, and the file has `runs`',
    ])
    const stages = 'stages: [{ algorithm: { kind: rl } }]\n'
    expect(await faultsIn(`name: e\nrun: { ${body} }\n${continual}${stages}`)).toEqual([
      '4:1 CONFIG_CONFLICT stages: continual and stages both say how the run continues',
    ])
  })
})

describe('a chain', () => {
  it('has stages without the checkpoint and step of the run, but for the first (CFG-6)', async () => {
    const { runs } = await planOf(`name: e
run: { name: r, tags: [x], data: { path: a }, model: { name: m, load_checkpoint_path: ./w, resume_step: 2 } }
stages: [{ algorithm: { kind: sft } }, { algorithm: { kind: rl }, data: { path: b } }]
`)
    expect(runs.map(({ config }) => [config.model, config.data.path, config.tags])).toEqual([
      [
        { name: 'm', load_checkpoint_path: '/project/w', resume_step: 2 },
        '/project/a',
        ['x', 'stages', 'stage:0', 'algo:sft'],
      ],
      [{ name: 'm' }, '/project/b', ['x', 'stages', 'stage:1', 'algo:rl']],
    ])
  })

  it('lists the run as written, with what its first stage supplies (CFG-6)', async () => {
    const { experiment } = await planOf(`name: e
run: { name: r, model: { name: m } }
stages: [{ algorithm: { kind: sft }, data: { path: a } }, { algorithm: { kind: rl }, data: { path: b } }]
`)
    expect(experiment.runs).toMatchObject([{ name: 'r', algorithm: { kind: 'sft' }, data: { path: '/project/a' } }])
  })

  it('has a mixed arm only where it is asked for, as long as all stages together (CFG-6)', async () => {
    const chain = (mix: string) =>
      `name: e\nrun: { name: r, ${body} }\ncontinual: { datasets: [{ path: b }, { path: c }, { path: d }]${mix} }\n`
    expect((await planOf(chain(', mix: false'))).arms.map(({ name }) => name)).not.toContain('r_mix')
    const mixed = (await planOf(chain(', mix: true'))).runs.at(-1)
    expect(mixed?.config.algorithm.params).toEqual({ max_steps: 12 })
    expect(mixed?.config.mix?.map(({ path }) => path)).toEqual(['/project/c', '/project/d'])
    const endless = chain(', mix: true').replace(', params: { max_steps: 4 }', '')
    expect((await planOf(endless)).runs.at(-1)?.config.algorithm.params).toEqual({})
  })
})
