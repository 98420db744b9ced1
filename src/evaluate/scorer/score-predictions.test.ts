import { describe, expect, it } from 'vitest'
import { Benchmark, type Prediction, type Row } from '../../contracts/index.ts'
import { dataPlugins } from '../../data/index.ts'
import { defineMetric, defineTransform, defineVerifier, keyedRandom } from '../../kernel/index.ts'
import { evaluatePlugins } from '../plugins.ts'
import type { TaskSource } from './load-tasks.ts'
import { prepareScoring } from './prepare-scoring.ts'
import { scorePredictions } from './score-predictions.ts'
import { createScorerPlugins } from './scorer-plugins.ts'

const { signal } = new AbortController()

/** A verifier that does what the answer says, to see what becomes of it. */
const obeying = defineVerifier({
  kind: 'obeying',
  summary: 'Does what the answer says.',
  verify({ output, expected }): never {
    const act: Record<string, () => unknown> = {
      throw: () => {
        throw new Error('no verdict')
      },
      nan: () => Number.NaN,
      infinite: () => ({ reward: Number.POSITIVE_INFINITY }),
      nothing: () => undefined,
      text: () => '1',
      reject: () => Promise.reject(new Error('not today')),
      'wait for ever': () => new Promise(() => {}),
      'return an object': () => ({ reward: 0.25, info: {} }),
    }
    const asked = act[output] ?? (() => (output === expected ? 1 : 0))
    return asked() as never // what a plugin in JavaScript may return
  },
})
const edits = defineVerifier({
  kind: 'edits',
  summary: 'Empties the list it is given.',
  verify: ({ expected }) => (Array.isArray(expected) ? expected.splice(0).length : 0),
})
const upper = defineTransform({
  kind: 'upper',
  summary: 'Shouts.',
  async *run(rows) {
    for await (const row of rows) yield { ...row, instruction: String(row.instruction).toUpperCase() }
  },
})
const fewest = defineMetric({
  kind: 'fewest',
  summary: 'Smallest reward.',
  direction: 'min',
  compute: (rewards) => Math.min(...rewards.flat()),
})

const task = (task_id: string, expected: unknown = task_id, metadata: object = {}, fn_name = 'obeying'): Row => ({
  task_id,
  instruction: `say ${task_id}`,
  verifier: { kind: 'in_process', fn_name, expected },
  metadata,
})

const four = ['a', 'b', 'c', 'd'].map((id) => task(id))

async function scorer(
  rows: readonly Row[] | TaskSource,
  entry: object = {},
  more: Partial<{ verifierMs: number; hash: string }> = {},
) {
  const { registry, need } = createScorerPlugins({
    builtins: [...dataPlugins, ...evaluatePlugins, obeying, edits, upper, fewest],
    places: [],
    projectDir: '.',
    signal,
    onRead() {},
  })
  const plan = await prepareScoring({
    benchmark: Benchmark.parse({ name: 'val', metrics: ['mean_reward', 'pass@1'], ...entry }),
    source: 'length' in rows ? { rows } : rows,
    services: {
      registry,
      need,
      signal,
      random: (...path) => keyedRandom(0, ...path),
      log() {},
      secret: () => {
        throw new Error('none')
      },
    },
    hashOf: ({ kind }) => more.hash ?? `code of ${kind}`,
    verifierMs: more.verifierMs ?? 10_000,
  })
  return {
    plan,
    score: (predictions: readonly Prediction[], limit = 4) => scorePredictions(plan, predictions, { limit, signal }),
  }
}

const say = (outputs: Record<string, string | undefined>, more: Partial<Prediction> = {}): Prediction[] =>
  Object.entries(outputs).map(([task_id, output]) => ({
    task_id,
    sample: 0,
    ...(output === undefined ? {} : { output }),
    ...more,
  }))

describe('scoring', () => {
  it('gives rewards by task and sample, and the metrics over all of them (LAB-14)', async () => {
    const { score } = await scorer(four, { num_samples: 2 })
    const answers = [
      ...say({ a: 'a', b: 'b', c: 'x', d: 'return an object' }),
      ...say({ a: 'a', b: 'x', c: 'x', d: 'd' }, { sample: 1 }),
    ]
    expect(await score(answers.reverse())).toEqual({
      metrics: { mean_reward: 0.53125, 'pass@1': 0.5 },
      intervals: {
        mean_reward: [expect.closeTo(0.045, 3), 1],
        'pass@1': [expect.closeTo(0.02, 3), expect.closeTo(0.98, 3)],
      },
      rewards: { a: [1, 1], b: [1, 0], c: [0, 0], d: [0.25, 1] },
      ranges: { 'pass@1': [0, 1] },
      n_tasks: 4,
      n_infra_failed: 0,
      scorer_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })

  it.each(['throw', 'nan', 'infinite', 'text', 'reject', 'nothing'])(
    'W6: a verifier that fails (%s) leaves the reward open: never zero, and the task stays in the denominator (LAB-14)',
    async (act) => {
      const { score } = await scorer(four)
      const scored = await score(say({ a: 'a', b: 'b', c: act, d: 'x' }))
      expect(scored).toMatchObject({
        rewards: { a: [1], b: [1], c: [null], d: [0] },
        metrics: { 'pass@1': 0.5 },
        bounds: { 'pass@1': [0.5, 0.75], mean_reward: [0.5, 0.75] },
        n_tasks: 4,
        n_infra_failed: 1,
        failures: [{ message: expect.stringContaining('verifier "obeying"'), count: 1 }],
      })
    },
  )

  it('W6: a task whose answers are all missing counts like any other (LAB-14)', async () => {
    const { score } = await scorer(four)
    const error = { code: 'BACKEND_FAILED' as const, message: 'the service was away' }
    const scored = await score([...say({ a: 'a', b: 'b' }), ...say({ c: undefined }, { error })])
    expect(scored).toMatchObject({
      rewards: { a: [1], b: [1], c: [null], d: [null] },
      bounds: { 'pass@1': [0.5, 1] },
      metrics: { 'pass@1': 0.5 },
      n_infra_failed: 2,
      failures: [
        { message: 'the service was away', count: 1 },
        { message: 'there is no answer', count: 1 },
      ],
    })
  })

  it('has no value, but bounds and an error, where nothing could be scored (LAB-14)', async () => {
    const { score } = await scorer(four)
    const scored = await score(say({ a: 'throw', b: 'throw', c: 'throw' }))
    expect(scored).toMatchObject({ metrics: {}, bounds: { 'pass@1': [0, 1] }, n_infra_failed: 4 })
    expect(scored.error).toMatchObject({ code: 'PLUGIN_FAILED', message: expect.stringContaining('no verdict') })
  })

  it('does not wait for a verifier that does not come back (LAB-14)', async () => {
    const { score } = await scorer(four, {}, { verifierMs: 30 })
    const scored = await score(say({ a: 'a', b: 'wait for ever', c: 'wait for ever', d: 'd' }))
    expect(scored).toMatchObject({
      rewards: { a: [1], b: [null], c: [null], d: [1] },
      failures: [{ message: 'verifier "obeying" took longer than 0.03 s', count: 2 }],
    })
  })

  it.each([
    ['an answer to no task', say({ z: 'a' }), /no task "z"/],
    ['a sample too many', say({ a: 'a' }, { sample: 1 }), /num_samples is 1/],
    ['two answers to one question', [...say({ a: 'a' }), ...say({ a: 'b' })], /answered twice/],
  ])('refuses predictions with %s (LAB-14)', async (_name, predictions, message) => {
    const { score } = await scorer(four)
    await expect(score(predictions)).rejects.toMatchObject({
      code: 'DATA_INVALID',
      message: expect.stringMatching(message),
    })
  })

  it('hands every verifier its own copy of what is expected (LAB-14)', async () => {
    const { score } = await scorer([task('a', [1, 2, 3], {}, 'edits')], { num_samples: 2 })
    const scored = await score([...say({ a: '' }), ...say({ a: '' }, { sample: 1 })])
    expect(scored.rewards).toEqual({ a: [3, 3] })
  })

  it('knows the usage of answers; what was not reported is no number and never zero (LAB-16)', async () => {
    const { score } = await scorer(four, { metrics: ['tokens_per_task', 'time_per_task', 'cost_per_task'] })
    const usage = { prompt_tokens: 10, completion_tokens: 5, cost_usd: 0.5 }
    const scored = await score([...say({ a: 'a', b: 'b' }, usage), ...say({ c: 'c' })])
    expect(scored.metrics).toEqual({ tokens_per_task: 15, cost_per_task: 0.5 })
    expect(scored.bounds).toBeUndefined()
  })

  it('reports scores by the values of breakdown keys, with their bounds (LAB-16)', async () => {
    const rows = [
      task('a', 'a', { kind: 'x' }),
      task('b', 'b', { kind: 'x' }),
      task('c', 'c', { kind: 'y' }),
      task('d'),
    ]
    const { score } = await scorer(rows, { metrics: ['pass@1'], breakdown_keys: ['kind'] })
    const scored = await score(say({ a: 'a', b: 'throw', c: 'c', d: 'x' }))
    expect(scored.metrics).toEqual({
      'pass@1': 0.5,
      'pass@1[kind=x]': 0.5,
      'pass@1[kind=y]': 1,
      'pass@1[kind=__missing__]': 0,
    })
    expect(scored.bounds).toEqual({ 'pass@1': [0.5, 0.75], 'pass@1[kind=x]': [0.5, 1] })
  })
})

describe('the hash of a scorer', () => {
  const hashOf = async (rows: readonly Row[], entry: object = {}, code = 'code') =>
    (await scorer(rows, entry, { hash: code })).plan.hash
  const same = () => hashOf(four)

  it.each([
    ['the text of a task', [{ ...task('a'), instruction: 'speak' }, ...four.slice(1)], {}],
    ['an expected answer', [task('a', 'b'), ...four.slice(1)], {}],
    ['a verifier', [task('a', 'a', {}, 'exact_match'), ...four.slice(1)], {}],
    ['the tasks that count', four, { limit: 3 }],
    ['a metric', four, { metrics: ['mean_reward', 'pass_rate'] }],
  ])('changes with %s (LAB-13)', async (_name, rows, entry) => {
    expect(await hashOf(rows, entry)).not.toBe(await same())
  })

  it('changes with the code of a verifier or metric (LAB-13)', async () => {
    expect(await hashOf(four, {}, 'other code')).not.toBe(await same())
  })

  it('does not change with how answers are drawn or broken down, nor with the order of keys and metrics (LAB-13)', async () => {
    const rows = four.map((row) => Object.fromEntries(Object.entries(row).reverse()))
    const entry = {
      metrics: ['pass@1', 'mean_reward'],
      temperature: 1,
      num_samples: 5,
      breakdown_keys: ['x'],
      n_concurrent: 1,
    }
    expect(await hashOf(rows, entry)).toBe(await same())
  })

  it('covers the first tasks alone when there is a limit (LAB-13)', async () => {
    expect(await hashOf(four, { limit: 2 })).toBe(await hashOf(four.slice(0, 2)))
  })
})

describe('the tasks of a scorer', () => {
  it('are made from data, with transforms and the verifier of the benchmark (LAB-12)', async () => {
    const data = {
      source_kind: 'in_memory',
      rows: [
        { instruction: 'say a', expected: 'a' },
        { instruction: 'say b', expected: 'b' },
      ],
      transforms: [{ kind: 'upper', params: {} }],
    }
    const { DataConfig } = await import('../../contracts/index.ts')
    const { plan } = await scorer(
      { data: DataConfig.parse(data) },
      { verifier: { kind: 'exact_match', params: { ignore_case: true } } },
    )
    expect(plan.tasks).toMatchObject([
      { instruction: 'SAY A', verifier: { fn_name: 'exact_match', expected: 'a', params: { ignore_case: true } } },
      { instruction: 'SAY B' },
    ])
    expect(new Set(plan.tasks.map(({ task_id }) => task_id)).size).toBe(2)
  })

  it.each([
    ['no task', [], {}, 'DATA_INVALID', /has no task/],
    ['two tasks of one name', [task('a'), task('a')], {}, 'DATA_INVALID', /two tasks are called "a"/],
    ['a task that is none', [{ task_id: 'a' }], {}, 'DATA_INVALID', /harbor_task/],
    ['a name that objects have', [task('__proto__')], {}, 'DATA_INVALID', /__proto__/],
    [
      'a verifier that nobody has',
      [task('a', 'a', {}, 'obying')],
      {},
      'PLUGIN_UNKNOWN',
      /no verifier is called "obying"/,
    ],
    ['a metric that nobody has', four, { metrics: ['pas@1'] }, 'PLUGIN_UNKNOWN', /no metric is called "pas@1"/],
    ['a metric that needs more samples', four, { metrics: ['pass@3'] }, 'CONFIG_INVALID', /needs 3 samples/],
    [
      'tests that cannot be run here',
      [{ ...task('a'), verifier: { kind: 'e2b', dockerfile: 'FROM x', test_sh: 'true' } }],
      {},
      'SANDBOX_MISSING',
      /service that evsys does not use/,
    ],
    [
      'params that do not fit',
      [
        {
          ...task('a'),
          verifier: { kind: 'in_process', fn_name: 'exact_match', expected: 'a', params: { ignore_cas: 1 } },
        },
      ],
      {},
      'PLUGIN_PARAMS',
      /ignore_cas/,
    ],
  ])('are refused with %s (LAB-12)', async (_name, rows, entry, code, message) => {
    await expect(scorer(rows, entry)).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
  })
})
