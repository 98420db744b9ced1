import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { PluginCard } from '../../contracts/index.ts'
import { defineAlgorithm, defineMetric, defineVerifier } from './define.ts'
import { pluginCard } from './plugin-card.ts'

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
