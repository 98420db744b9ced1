import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { arbitraryOf } from '../../tests/arbitrary-of.ts'
import { Experiment, ExperimentFile } from './experiment-file.ts'
import { BenchmarkEntry, Metadata } from './metadata.ts'
import { DataConfig, RunConfig } from './run-config.ts'

type JsonSchema = z.core.JSONSchema.BaseSchema

/** Every field of a schema with its dotted path, through lists, unions and nested objects. */
function* fieldsOf(schema: JsonSchema | boolean | undefined, path = ''): Generator<[string, JsonSchema]> {
  if (typeof schema !== 'object') return
  for (const [key, field] of Object.entries(schema.properties ?? {})) {
    if (typeof field === 'boolean') continue
    yield [`${path}${key}`, field]
    yield* fieldsOf(field, `${path}${key}.`)
  }
  for (const each of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) yield* fieldsOf(each, path)
  if (!Array.isArray(schema.items)) yield* fieldsOf(schema.items, `${path}[].`)
}

/** Objects of a schema that take keys beyond those they name, though they name some. */
function* looseIn(schema: JsonSchema | boolean | undefined, path = '$'): Generator<string> {
  if (typeof schema !== 'object') return
  if (schema.properties !== undefined && schema.additionalProperties !== false) yield path
  for (const [key, field] of Object.entries(schema.properties ?? {})) yield* looseIn(field, `${path}.${key}`)
  for (const each of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) yield* looseIn(each, path)
  if (!Array.isArray(schema.items)) yield* looseIn(schema.items, `${path}[]`)
}

const run = {
  name: 'r',
  data: { path: 'data/train.jsonl', transforms: [{ kind: 'dedupe', params: { key: 'query' } }] },
  model: { name: 'evsys/tiny' },
  algorithm: { kind: 'sft', params: { max_steps: 200 } },
}

describe.each([
  ['ExperimentFile', ExperimentFile],
  ['Experiment', Experiment],
])('%s', (_name, schema) => {
  const written = z.toJSONSchema(schema, { io: 'input' })

  it('describes every field in words (CON-1)', () => {
    const fields = [...fieldsOf(written)]
    expect(fields.length).toBeGreaterThan(100)
    expect(fields.filter(([, field]) => !/\w{2,}/.test(field.description ?? '')).map(([path]) => path)).toEqual([])
  })

  it('gives every field a type (CON-1)', () => {
    const typed = ['type', 'anyOf', 'oneOf', 'enum', 'const'] as const
    const untyped = [...fieldsOf(written)].filter(([, field]) => typed.every((key) => field[key] === undefined))
    expect(untyped.map(([path]) => path)).toEqual([])
  })

  it('takes no key that it does not name, at any level (CON-1)', () => {
    // A model behind a client is written with the params of that plugin, which checks them.
    const open = [...looseIn(written)].filter((path) => !path.endsWith('.models[]'))
    expect(open).toEqual([])
  })
})

describe('an experiment', () => {
  it('is complete once it has a name and a run: everything else has a default (CON-1)', () => {
    expect(Experiment.parse({ name: 'e', runs: [{ ...run, data: {} }] })).toStrictEqual({
      version: 1,
      name: 'e',
      description: '',
      log_rollouts: false,
      callbacks: [],
      plugins: [],
      n_repeats: 1,
      metadata: { tags: [], benchmark: [] },
      runs: [
        {
          ...run,
          data: { source_kind: 'jsonl', hf_split: 'train', transforms: [] },
          backend: { kind: 'local', params: {} },
          seed: 42,
          tags: [],
        },
      ],
    })
  })

  it('has the same defaults for a benchmark in the loop and after it (CON-1)', () => {
    const { run_every: _, ...inLoop } = BenchmarkEntry.parse({ path: 'data/val', run_every: 50 })
    const { run_every, ...final } = BenchmarkEntry.parse({ path: 'data/val' })
    expect(run_every).toBe(0)
    expect(inLoop).toStrictEqual(final)
    expect(final).toStrictEqual({
      path: 'data/val',
      split: 'val',
      tags: [],
      metrics: ['mean_reward', 'pass_rate'],
      num_samples: 1,
      max_tokens: 512,
      temperature: 0,
      breakdown_keys: [],
      chat_template: {},
      engine: 'harbor',
      n_concurrent: 8,
      models: [],
    })
  })

  it('claims an effect of any size at 90 % unless it says more (CON-1)', () => {
    const { claim } = Metadata.parse({ claim: { treatment: 'a', baseline: { 'algorithm.kind': 'sft' } } })
    expect(claim).toStrictEqual({
      treatment: 'a',
      baseline: { 'algorithm.kind': 'sft' },
      min_effect: 0,
      confidence: 0.9,
    })
  })

  const benchmark = { name: 'val', path: 'data/val' }

  it.each<[string, string, object]>([
    ['another version', 'version', { version: 2 }],
    ['no repeat', 'n_repeats', { n_repeats: 0 }],
    ['half a repeat', 'n_repeats', { n_repeats: 1.5 }],
    ['a million repeats', 'n_repeats', { n_repeats: 1_000_000 }],
    ['a negative seed', 'base_seed', { base_seed: -1 }],
    ['a seed beyond 32 bits', 'base_seed', { base_seed: 2 ** 32 }],
    ['no run', 'runs', { runs: [] }],
    ['nothing at a time', 'max_concurrent_arms', { max_concurrent_arms: 0 }],
    ['a name that is a path', 'name', { name: '../e' }],
    ['text for a flag', 'log_rollouts', { log_rollouts: 'yes' }],
    ['a misspelt key', '', { n_repeat: 3 }],
    ['a misspelt key below', 'metadata', { metadata: { hypotesis: 'x' } }],
    [
      'an effect below zero',
      'metadata.claim.min_effect',
      { metadata: { claim: { treatment: 'a', baseline: 'b', min_effect: -1 } } },
    ],
    [
      'certainty',
      'metadata.claim.confidence',
      { metadata: { claim: { treatment: 'a', baseline: 'b', confidence: 1 } } },
    ],
    [
      'a direction that is none',
      'metadata.objective.direction',
      { metadata: { objective: { metric: 'm', direction: 'up' } } },
    ],
    ['a budget of nothing', 'budget.usd', { budget: { usd: 0 } }],
    [
      'a split to train on',
      'metadata.benchmark.0.split',
      { metadata: { benchmark: [{ ...benchmark, split: 'train' }] } },
    ],
    ['no metric', 'metadata.benchmark.0.metrics', { metadata: { benchmark: [{ ...benchmark, metrics: [] }] } }],
    [
      'heat below zero',
      'metadata.benchmark.0.temperature',
      { metadata: { benchmark: [{ ...benchmark, temperature: -1 }] } },
    ],
    ['a benchmark without a name', 'metadata.benchmark.0.name', { metadata: { benchmark: [{ path: 'data/val' }] } }],
  ])('refuses %s, at %j (CON-1)', (_what, path, wrong) => {
    const valid = { name: 'e', runs: [run], metadata: { benchmark: [benchmark] } }
    expect(Experiment.safeParse(valid).success).toBe(true)
    const { error } = Experiment.safeParse({ ...valid, ...wrong })
    expect(error?.issues.map((issue) => issue.path.join('.'))).toEqual([path])
  })

  it('refuses the keys that only a file may have (CON-1)', () => {
    for (const key of ['extends', 'run', 'matrix', 'base_run', 'algorithm', 'eval', 'validation']) {
      expect(Experiment.safeParse({ name: 'e', runs: [run], [key]: {} }).error?.issues[0]?.code).toBe(
        'unrecognized_keys',
      )
    }
  })

  it('is a fixed point: parsed again, also through JSON, it stays as it is (CON-1)', () => {
    fc.assert(
      fc.property(arbitraryOf(Experiment), (input) => {
        const experiment = Experiment.parse(input)
        expect(Experiment.parse(experiment)).toEqual(experiment)
        expect(Experiment.parse(JSON.parse(JSON.stringify(experiment)))).toEqual(experiment)
      }),
    )
  })
})

describe('an experiment file', () => {
  it('may leave the parts of a run to its axes (CON-1)', () => {
    const axes = { 'algorithm.kind': ['sft', 'focal_sft'] }
    expect(ExperimentFile.safeParse({ name: 'e', matrix: { axes, base_run: {} } }).success).toBe(true)
    expect(ExperimentFile.safeParse({ name: 'e', matrix: { axes: { 'algorithm.kind': [] } } }).success).toBe(false)
  })

  it('may have one benchmark without a list (CON-1)', () => {
    const benchmark = { name: 'val', path: 'data/val' }
    expect(ExperimentFile.safeParse({ name: 'e', metadata: { benchmark } }).success).toBe(true)
    expect(ExperimentFile.safeParse({ name: 'e', metadata: { benchmark: [benchmark] } }).success).toBe(true)
  })

  it('accepts whatever a canonical experiment holds (CON-1)', () => {
    fc.assert(
      fc.property(arbitraryOf(Experiment), (input) => {
        expect(ExperimentFile.safeParse(Experiment.parse(input)).error?.issues).toBeUndefined()
      }),
    )
  })
})

describe('a run', () => {
  it.each([
    ['data', DataConfig, { source: 'a.jsonl' }],
    ['the run', RunConfig, { ...run, learning_rate: 1 }],
    ['the model', RunConfig, { ...run, model: { name: 'm', rank: 8 } }],
    ['a transform', RunConfig, { ...run, data: { transforms: [{ kind: 'dedupe', key: 'query' }] } }],
    ['the backend', RunConfig, { ...run, backend: 'local' }],
  ])('refuses a key that is not its own in %s (CON-1)', (_where, schema, wrong) => {
    expect(schema.safeParse(wrong).success).toBe(false)
  })

  it('keeps rows and params as they were written (CON-1)', () => {
    const rows = [{ query: 'a', nested: { list: [1, null, { x: '' }] } }]
    expect(DataConfig.parse({ source_kind: 'in_memory', rows }).rows).toStrictEqual(rows)
    const params = { a: { b: [true, 1.5, 'c', null] } }
    expect(RunConfig.parse({ ...run, algorithm: { kind: 'sft', params } }).algorithm.params).toStrictEqual(params)
  })
})
