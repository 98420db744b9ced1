import { describe, expect, it } from 'vitest'
import { planOf } from '../../tests/load-text.ts'

const chain = (first: string) => `name: e
run: { name: r, model: { name: m }, algorithm: { kind: sft, params: { max_steps: 7 } } }
continual: { datasets: [{ path: ${first} }, { path: b.jsonl }] }
`
const run = (name: string, seed: number, lr: number) =>
  `  - { name: ${name}, seed: ${seed}, data: { path: a }, model: { name: m, load_checkpoint_path: ./w, resume_step: 3 }, algorithm: { kind: sft, params: { lr: ${lr} } } }`
const runs = `name: e
runs:
${[run('a', 9, 1), run('b', 3, 1), run('c', 100, 2)].join('\n')}
`
const metadata = (claim: string, models = '[]') => `metadata:
  benchmark: [{ name: val, path: v, metrics: [pass_rate], models: ${models} }]
  ${claim}
`

describe('the hash of a run', () => {
  it('covers the stage that its weights come from (CFG-6, CFG-17)', async () => {
    const hashes = async (first: string) => (await planOf(chain(first))).runs.map(({ config_hash }) => config_hash)
    const [start, next] = await hashes('a.jsonl')
    const [otherStart, otherNext] = await hashes('c.jsonl')
    expect(otherStart).not.toBe(start)
    expect(otherNext).not.toBe(next)
    expect(await hashes('a.jsonl')).toEqual([start, next])
  })

  it('covers the arm that its weights come from under its own seed alone (CFG-17, RL-311)', async () => {
    const text = `name: e
runs:
  - { name: big, data: { path: a }, model: { name: m }, algorithm: { kind: sft } }
  - { name: small, data: { path: a }, model: { name: m, init_from_checkpoint: "arm:big" }, algorithm: { kind: sft } }
`
    const small = (await planOf(text)).runs.find(({ arm }) => arm === 'small')
    const repeated = (await planOf(`${text}n_repeats: 2\n`)).runs.filter(({ arm }) => arm === 'small')
    expect(repeated[0]).toMatchObject({ seed: small?.seed, config_hash: small?.config_hash })
    expect(repeated[1]?.config_hash).not.toBe(small?.config_hash)
  })
})

describe('the arm of the untrained model', () => {
  it('has the seeds of the arms that it is compared with, in order, and no checkpoint of theirs (CFG-8)', async () => {
    const claim = 'claim: { treatment: { algorithm.params.lr: 1 }, baseline: base_model, metric: val.pass_rate }'
    const plan = await planOf(`${runs}${metadata(claim)}`)
    expect(plan.arms.at(-1)).toEqual({ name: 'base_model', params: {}, seeds: [3, 9], max_steps: 0 })
    const scored = plan.runs.filter(({ arm }) => arm === 'base_model')
    expect(scored.map(({ name, seed, config }) => [name, seed, config.name, config.seed])).toEqual([
      ['base_model__s3', 3, 'base_model__s3', 3],
      ['base_model__s9', 9, 'base_model__s9', 9],
    ])
    expect(scored[0]?.config).toMatchObject({ model: { name: 'm' }, algorithm: { kind: 'score_only', params: {} } })
    expect(scored[0]?.config.model).toEqual({ name: 'm' })
    expect(scored[0]?.config_hash).not.toBe(scored[1]?.config_hash)
  })

  it('has one run without a seed in its name where there is one seed (CFG-8)', async () => {
    const claim = 'claim: { treatment: c, baseline: base_model, metric: val.pass_rate }'
    const { runs: planned } = await planOf(`${runs}${metadata(claim)}`)
    expect(planned.filter(({ arm }) => arm === 'base_model').map(({ name, seed }) => [name, seed])).toEqual([
      ['base_model', 100],
    ])
  })

  it('is planned for all arms where a benchmark names it, and for none where nothing does (CFG-8)', async () => {
    const named = await planOf(`${runs}${metadata('tags: []', '[base_model]')}`)
    expect(named.arms.at(-1)).toMatchObject({ name: 'base_model', seeds: [3, 9, 100] })
    const other = await planOf(`${runs}${metadata('tags: []', '[some/model]')}`)
    expect(other.arms.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  })
})

it('an arm has the steps that its recipe states as a number (CFG-12)', async () => {
  const steps = async (max: string) => (await planOf(chain('a').replace('max_steps: 7', `max_steps: ${max}`))).arms[0]
  expect(await steps('7')).toMatchObject({ max_steps: 7 })
  expect(await steps('7.5')).not.toHaveProperty('max_steps')
  expect(await steps('many')).not.toHaveProperty('max_steps')
})
