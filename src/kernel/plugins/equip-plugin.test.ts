import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { PluginCard } from '../../contracts/index.ts'
import { defineAlgorithm, defineMetric, defineVerifier } from './define.ts'
import { checkParams, pluginCard } from './equip-plugin.ts'

const pass = defineMetric({
  kind: 'pass@{k}',
  summary: 'x',
  params: z.strictObject({ k: z.int().positive(), bias: z.boolean().default(false) }),
  minSamples: ({ k }) => k,
  compute: () => 1,
})

function verifier(params: z.ZodType) {
  return defineVerifier({ kind: 'v', summary: 'x', params, verify: () => 1 })
}

describe('checkParams', () => {
  it('fills in defaults, and counts absent params as empty (KER-14)', () => {
    const plugin = verifier(z.strictObject({ n: z.int().default(3) }))
    for (const params of [{}, undefined, null]) {
      expect(checkParams(plugin, params)).toEqual({ ok: true, value: { n: 3 } })
    }
  })

  it('adds what the kind says, and the samples that a metric needs (KER-14)', () => {
    expect(checkParams(pass, {}, { k: 3 })).toEqual({ ok: true, value: { k: 3, bias: false }, minSamples: 3 })
  })

  it('refuses what the kind says already (KER-14)', () => {
    expect(checkParams(pass, { k: 2 }, { k: 3 })).toEqual({
      ok: false,
      issues: [{ path: ['k'], code: 'invalid', message: 'is set by the kind, which makes it 3' }],
    })
  })

  it('says what is wrong, all at once (KER-14)', () => {
    expect(checkParams(pass, { bais: true }, { k: 3 })).toMatchObject({
      issues: [{ code: 'unknown_key', keys: ['bais'], known: ['k', 'bias'] }],
    })
    expect(checkParams(pass, [], { k: 3 })).toMatchObject({
      issues: [{ message: 'expected a mapping, got an empty list' }],
    })
  })

  it.each([
    [
      'a check that throws',
      z.any().refine(() => {
        throw new Error('boom')
      }),
      /cannot be checked: boom/,
    ],
    ['a check that waits', z.any().refine(async () => true), /must answer at once/],
  ])('survives %s (KER-5)', (_name, schema, expected) => {
    expect(checkParams(verifier(schema), {})).toMatchObject({ issues: [{ message: expect.stringMatching(expected) }] })
  })

  it('does not believe a metric that needs half a sample (KER-5)', () => {
    const odd = defineMetric({ kind: 'm', summary: 'x', minSamples: () => 0.5, compute: () => 1 })
    expect(checkParams(odd, {})).toMatchObject({
      ok: false,
      issues: [{ message: expect.stringContaining('whole number') }],
    })
  })
})

const made = { origin: 'src/plugins/a.ts', hash: 'abc' }

function schemaOf(params: z.ZodType) {
  return pluginCard(defineVerifier({ kind: 'v', summary: 'x', params, verify: () => 1 }), made).schema
}

describe('pluginCard', () => {
  it('says everything about a plugin that does not run (KER-14)', () => {
    const plugin = defineMetric({
      kind: 'pass@{k}',
      summary: ' Share of tasks solved in k tries. ',
      params: z.strictObject({ k: z.int().min(1).describe('Tries.') }),
      needs: { commands: ['git'] },
      direction: 'min',
      compute: () => 1,
    })
    const card = pluginCard(plugin, made)
    expect(card).toEqual({
      type: 'metric',
      kind: 'pass@{k}',
      summary: 'Share of tasks solved in k tries.',
      schema: {
        type: 'object',
        properties: { k: { type: 'integer', minimum: 1, description: 'Tries.' } },
        required: ['k'],
        additionalProperties: false,
      },
      needs: { commands: ['git'] },
      origin: 'src/plugins/a.ts',
      hash: 'abc',
      facts: { direction: 'min' },
    })
    expect(PluginCard.parse(JSON.parse(JSON.stringify(card)))).toEqual(card)
  })

  it('names the row format of an algorithm (KER-14)', () => {
    const buildBatch = async () => ({ data: [], loss: { name: 'x' } })
    expect(pluginCard(defineAlgorithm({ kind: 'a', summary: 'x', buildBatch }), made).facts).toEqual({
      rowFormat: 'chat_messages',
    })
  })

  it('describes what people write, not what comes out of the schema (KER-14)', () => {
    const schema = schemaOf(
      z.strictObject({ n: z.int().default(3), text: z.string().transform((text) => text.length) }),
    )
    expect(schema).toEqual({
      type: 'object',
      properties: { n: { type: 'integer', default: 3 }, text: { type: 'string' } },
      required: ['text'],
      additionalProperties: false,
    })
  })

  it('has a schema whatever JSON Schema cannot say (KER-14)', () => {
    expect(schemaOf(z.strictObject({ at: z.date(), f: z.custom<() => void>() }))).toMatchObject({
      properties: { at: {}, f: {} },
    })
    expect(schemaOf(z.strictObject({ big: z.bigint().default(3n) }))).toBeTypeOf('object')
    const tree: z.ZodType = z.strictObject({
      get child() {
        return tree.optional()
      },
    })
    expect(schemaOf(tree)).toMatchObject({ properties: { child: {} } })
  })
})
