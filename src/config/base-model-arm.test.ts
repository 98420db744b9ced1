import { describe, expect, it } from 'vitest'
import { faultsIn, planOf } from '../../tests/load-text.ts'

const file = (
  claim: string,
  axes = 'algorithm.params.lr: [1, 2]',
  model = '{ name: m, init_from_checkpoint: x }',
) => `name: e
n_repeats: 2
matrix:
  axes: { ${axes} }
base_run: { data: { path: a }, model: ${model}, algorithm: { kind: sft, params: { renderer_name: plain_chat } }, backend: { kind: mock } }
metadata:
  success_metric: val.pass_rate
  benchmark: [{ name: val, path: v, metrics: [pass_rate] }]
  claim: ${claim}
`

describe('a claim about the base model', () => {
  it('plans an arm that scores the model as it came, under the seeds of the arms it is compared with (CFG-8, LAB-50)', async () => {
    const { arms, runs } = await planOf(file('{ treatment: { algorithm.params.lr: 1 }, baseline: base_model }'))
    expect(arms.map(({ name, seeds, max_steps }) => [name, seeds, max_steps])).toEqual([
      ['e__lr1', [42, 43], undefined],
      ['e__lr2', [42, 43], undefined],
      ['base_model', [42, 43], 0],
    ])
    const base = runs.filter(({ arm }) => arm === 'base_model')
    expect(
      base.map(({ name, seed, config }) => [name, seed, config.model, config.algorithm, config.backend.kind]),
    ).toEqual([
      ['base_model__s42', 42, { name: 'm' }, { kind: 'score_only', params: { renderer_name: 'plain_chat' } }, 'mock'],
      ['base_model__s43', 43, { name: 'm' }, { kind: 'score_only', params: { renderer_name: 'plain_chat' } }, 'mock'],
    ])
    expect(new Set(runs.map(({ config_hash }) => config_hash)).size).toBe(6)
  })

  it('plans none where no claim asks for it (CFG-8)', async () => {
    const { arms } = await planOf(
      file('{ treatment: { algorithm.params.lr: 1 }, baseline: { algorithm.params.lr: 2 } }'),
    )
    expect(arms.map(({ name }) => name)).toEqual(['e__lr1', 'e__lr2'])
  })

  it('is refused where it could mean several (CFG-8)', async () => {
    const axes = 'model.name: [m, n], algorithm.params.lr: [1]'
    expect(await faultsIn(file('{ treatment: { algorithm.params.lr: 1 }, baseline: base_model }', axes, '{}'))).toEqual(
      ['9:10 CONFIG_CLAIM metadata.claim: base_model could be any of: m on mock, n on mock'],
    )
    const one = await planOf(file('{ treatment: { model.name: n }, baseline: base_model }', axes, '{}'))
    expect(one.runs.at(-1)?.config.model.name).toBe('n')
  })
})
