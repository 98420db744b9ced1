import { describe, expect, it } from 'vitest'
import { planOf } from '../../tests/load-text.ts'
import { EvsysError } from '../kernel/index.ts'

const file = (
  claim: string,
  objective = '',
  axes = 'algorithm.params.lr: [1, 2], algorithm.params.b: [1, 2]',
) => `name: e
matrix: { axes: { ${axes} } }
base_run: { data: { path: a }, model: { name: m }, algorithm: { kind: sft }, backend: { kind: mock } }
metadata:
  benchmark:
    - { name: val, path: v, metrics: [loss, pass_rate] }
    - { name: test, path: t, split: test, metrics: [loss] }
  claim: ${claim}
${objective}`

/** What is wrong with a claim, and how to mend it. */
async function faults(claim: string, axes?: string): Promise<[string, string | undefined][]> {
  const error = await planOf(file(claim, '', axes)).catch((cause) => cause)
  if (!EvsysError.is(error)) throw error
  return error.problems.map(({ message, fix }) => [message, fix])
}

describe('several claims', () => {
  const several = (claims: string) => file('null', `  claims: ${claims}`)
  const one = 'treatment: { algorithm.params.lr: 1 }, baseline: { algorithm.params.lr: 2 }'

  it('are on any benchmark, and may say which way is better (USE-250)', async () => {
    const { claim, claims } = await planOf(
      several(`[{ ${one}, metric: val.pass_rate }, { ${one}, metric: test.loss, direction: min, min_effect: 0.1 }]`),
    )
    expect(claims?.map(({ benchmark, metric, direction }) => [benchmark, metric, direction])).toEqual([
      ['val', 'pass_rate', 'max'],
      ['test', 'loss', 'min'],
    ])
    expect(claim).toEqual(claims?.[0])
  })

  it.each([
    ['claims beside claim', file(`{ ${one}, metric: loss }`, `  claims: [{ ${one}, metric: loss }]`), 'beside `claim`'],
    [
      'different confidence',
      several(`[{ ${one}, metric: loss }, { ${one}, metric: pass_rate, confidence: 0.95 }]`),
      'one confidence',
    ],
    [
      'an unknown arm in the second',
      several(`[{ ${one}, metric: loss }, { treatment: x, baseline: y, metric: loss }]`),
      '"x"',
    ],
  ])('refuse %s (USE-251)', async (_, text, message) => {
    const error = await planOf(text).catch((cause) => cause)
    expect(EvsysError.is(error) && error.problems.map((each) => each.message).join('\n')).toContain(message)
  })
})

describe('which way is better', () => {
  it.each([
    ['tokens_per_task', 'min'],
    ['latency_p95', 'min'],
    ['pass_rate', 'max'],
  ])('of %s is %s before any plugin is loaded (USE-6)', async (metric, direction) => {
    const { objective, claim } = await planOf(`name: e
matrix: { axes: { algorithm.params.lr: [1, 2] } }
base_run: { data: { path: a }, model: { name: m }, algorithm: { kind: sft }, backend: { kind: mock } }
metadata:
  benchmark: [{ name: val, path: v, metrics: [${metric}] }]
  objective: { metric: val.${metric} }
  claim: { treatment: e__lr1, baseline: e__lr2, metric: val.${metric} }`)
    expect([objective?.direction, claim?.direction]).toEqual([direction, direction])
  })
})

describe('a side of a claim', () => {
  it('that names no arm says which arms there are (CFG-8)', async () => {
    const [[message, fix] = []] = await faults('{ treatment: e__lr1_b3, baseline: e__lr1_b1, metric: val.loss }')
    expect(message).toBe('no arm is called "e__lr1_b3"')
    expect(fix).toMatch(/did you mean "e__lr1_b[12]"/)
    expect(fix).toContain('base_model')
  })

  it('that names no axis says which axes there are (CFG-8)', async () => {
    const claim = '{ treatment: { algorithm.params.lrr: 1 }, baseline: { algorithm.params.lr: 2 }, metric: val.loss }'
    const [[message, fix] = []] = await faults(claim)
    expect(message).toBe('no arm has a value at `algorithm.params.lrr`')
    expect(fix).toContain('did you mean "algorithm.params.lr"')
  })

  it('leads through mappings alone (CFG-8)', async () => {
    for (const path of ['model.name.length', 'algorithm.params.lr.x', 'model.toString']) {
      const claim = `{ treatment: { ${path}: 1 }, baseline: { algorithm.params.lr: 2 }, metric: val.loss }`
      expect((await faults(claim)).map(([message]) => message)).toEqual([`no arm has a value at \`${path}\``])
    }
  })

  it('with values that no arm has says which values the arms have (CFG-8)', async () => {
    const claim = '{ treatment: { algorithm.params.lr: 3 }, baseline: { algorithm.params.lr: 2 }, metric: val.loss }'
    expect(await faults(claim)).toEqual([['no arm has these values', 'in the arms, `algorithm.params.lr` is 1, 2.']])
    const empty = '{ treatment: {}, baseline: { algorithm.params.lr: 2 }, metric: val.loss }'
    expect(await faults(empty)).toEqual([['the reference is empty', 'name an arm, axis values, or base_model.']])
  })
})

describe('the arms of a claim', () => {
  it('are not paired one to many (CFG-8)', async () => {
    const one = '{ algorithm.params.lr: 1, algorithm.params.b: 1 }'
    const two = '{ algorithm.params.lr: 2 }'
    const says = 'the arms of the two sides cannot be paired: '
    expect((await faults(`{ treatment: ${one}, baseline: ${two}, metric: val.loss }`))[0]?.[0]).toBe(
      `${says}e__lr1_b1 against e__lr2_b1, e__lr2_b2`,
    )
    expect((await faults(`{ treatment: ${two}, baseline: ${one}, metric: val.loss }`))[0]?.[0]).toBe(
      `${says}e__lr2_b1, e__lr2_b2 against e__lr1_b1`,
    )
  })

  it('are listed up to the fifth where they cannot be paired (CFG-8)', async () => {
    const axes = 'algorithm.params.lr: [1, 2], algorithm.params.b: [1, 2, 3, 4, 5, 6]'
    const claim =
      '{ treatment: { algorithm.params.lr: 1, algorithm.params.b: 1 }, baseline: { algorithm.params.lr: 2 }, metric: val.loss }'
    const [[message] = []] = await faults(claim, axes)
    expect(message).toMatch(/against e__lr2_b1, e__lr2_b2, e__lr2_b3, e__lr2_b4, e__lr2_b5 and 1 more$/)
    const [[five] = []] = await faults(claim, axes.replace(', 6]', ']'))
    expect(five).toMatch(/e__lr2_b5$/)
  })

  it('are of one model and one backend where they meet the untrained model (CFG-8)', async () => {
    const claim = '{ treatment: { algorithm.params.lr: 1 }, baseline: base_model, metric: val.loss }'
    expect((await faults(claim, 'algorithm.params.lr: [1], backend.kind: [mock, local]'))[0]?.[0]).toBe(
      'base_model could be any of: m on mock, m on local',
    )
    const { claim: resolved } = await planOf(file(claim, '', 'algorithm.params.lr: [1], seed: [1, 2]'))
    expect(resolved?.pairs).toEqual([
      { treatment: 'e__lr1_seed1', baseline: 'base_model' },
      { treatment: 'e__lr1_seed2', baseline: 'base_model' },
    ])
  })
})

describe('the direction of a claim', () => {
  const directed = async (metric: string) => {
    const sides = 'treatment: { algorithm.params.lr: 1 }, baseline: { algorithm.params.lr: 2 }'
    const text = file(`{ ${sides}${metric} }`, '  objective: { metric: val.loss, direction: min }\n')
    const { claim } = await planOf(text)
    return [claim?.benchmark, claim?.metric, claim?.direction]
  }

  it('is that of the objective for its metric, named or not, and no other (CFG-7, CFG-8)', async () => {
    expect(await directed('')).toEqual(['val', 'loss', 'min'])
    expect(await directed(', metric: val.loss')).toEqual(['val', 'loss', 'min'])
    expect(await directed(', metric: val.pass_rate')).toEqual(['val', 'pass_rate', 'max'])
    expect(await directed(', metric: test.loss')).toEqual(['test', 'loss', 'max'])
  })
})

it('an objective on test names the metrics of validation to select on (CFG-7)', async () => {
  const error = await planOf(
    file('{ treatment: { algorithm.params.lr: 1 }, baseline: { algorithm.params.lr: 2 } }').concat(
      '  objective: { metric: test.loss }\n',
    ),
  ).catch((cause) => cause)
  expect(error.problems).toMatchObject([
    { code: 'CONFIG_OBJECTIVE', where: { line: 9 }, fix: 'select on validation, such as val.loss.' },
  ])
})

describe('sides that name a benchmark', () => {
  const between = (claim: string, benchmarks: string, objective = 'objective: { metric: val.f1 }') => `name: e
runs:
  - { name: sft, data: { path: a }, model: { name: m }, algorithm: { kind: sft }, backend: { kind: mock } }
metadata:
  ${objective}
  benchmark:
    ${benchmarks}
  claim: ${claim}`
  const both =
    '[{ name: val, path: v, run_every: 5, metrics: [f1, acc] }, { name: april, path: t, split: test, metrics: [f1] }]'
  const problemsOf = async (claim: string, benchmarks = both, objective?: string) => {
    const error = await planOf(between(claim, benchmarks, objective)).catch((cause) => cause)
    if (!EvsysError.is(error)) throw error
    return error.problems.map(({ message, fix, where }) => ({ message, fix, line: where?.line }))
  }

  it('claim that an arm holds on other tasks, by the metric of both, and what may be lost (USE-531)', async () => {
    const { claim, notices } = await planOf(
      between('{ treatment: sft@april, baseline: sft@val, max_drop: 0.05 }', both),
    )
    expect(claim).toEqual({
      benchmark: 'april',
      baseline_benchmark: 'val',
      metric: 'f1',
      direction: 'max',
      pairs: [{ treatment: 'sft', baseline: 'sft' }],
      min_effect: -0.05,
      confidence: 0.9,
    })
    expect(notices.map(({ text }) => text).join('\n')).toContain('val chooses the checkpoint of each run')
    const untrained = await planOf(between('{ treatment: sft@april, baseline: base_model@april }', both))
    expect(untrained.claim).toMatchObject({ benchmark: 'april', pairs: [{ treatment: 'sft', baseline: 'base_model' }] })
    expect(untrained.claim).not.toHaveProperty('baseline_benchmark')
  })

  it.each([
    [
      'one side without',
      '{ treatment: sft@april, baseline: sft }',
      'the treatment names a benchmark, the baseline does not',
      'ARM@BENCHMARK',
    ],
    ['an unknown benchmark', '{ treatment: sft@apri, baseline: sft@val }', 'no benchmark is called "apri"', 'april'],
    ['an unknown arm', '{ treatment: sf@april, baseline: sft@val }', 'no arm is called "sf"', 'sft'],
    ['the same twice', '{ treatment: sft@val, baseline: sft@val }', 'both sides mean "sft@val"', 'another benchmark'],
    [
      'a metric that one lacks',
      '{ treatment: sft@april, baseline: sft@val, metric: acc }',
      'the benchmark "april" has no metric "acc"',
      'that both have: f1',
    ],
    [
      'a metric with a benchmark',
      '{ treatment: sft@april, baseline: sft@val, metric: val.f1 }',
      'has no metric "val.f1"',
      'write f1',
    ],
    [
      'two floors',
      '{ treatment: sft@april, baseline: sft@val, min_effect: 0.1, max_drop: 0.1 }',
      '`max_drop` stands beside `min_effect`',
      'keep one',
    ],
  ])('refuse %s, at its place (USE-531)', async (_, claim, message, fix) => {
    const [found] = await problemsOf(claim)
    expect(found?.message).toContain(message)
    expect(found?.fix).toContain(fix)
    expect(found?.line).toBe(8)
  })

  it('refuse metrics that share a name alone, and an objective on test (USE-531)', async () => {
    const differing = both.replace('metrics: [f1] }', 'metrics: [{ kind: macro_f1, name: f1 }] }')
    const claim = '{ treatment: sft@april, baseline: sft@val }'
    expect((await problemsOf(claim, differing))[0]?.message).toContain('f1 of april is not the f1 of val')
    const selecting = await problemsOf(claim, both, 'objective: { metric: april.f1 }')
    expect(selecting.map(({ message }) => message).join()).toContain('test confirms, validation selects')
    expect((await problemsOf(claim, both, 'notes: none'))[0]?.message).toContain('the claim has no metric')
  })
})
