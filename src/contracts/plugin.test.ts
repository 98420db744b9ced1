import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { arbitraryOf } from '../../tests/arbitrary-of.ts'
import { Kind, Needs, PluginCard, PluginSpec, paramReferences, pluginReference } from './plugin.ts'

const card = {
  type: 'metric',
  kind: 'pass@{k}',
  summary: 'Share of tasks that one of k samples passes.',
  schema: { type: 'object' },
  needs: { commands: ['git'], secrets: ['API_KEY'] },
  origin: 'built-in',
  hash: 'h',
  facts: { direction: 'max' },
}

describe('a plugin as data', () => {
  it('is what a process that loaded the plugin may say of it (CON-3)', () => {
    expect(PluginCard.parse(card)).toEqual(card)
    expect(PluginCard.safeParse({ ...card, type: 'gadget' }).success).toBe(false)
    expect(PluginCard.safeParse({ ...card, run: 'code' }).success).toBe(false)
    expect(PluginCard.safeParse({ ...card, needs: { root: true } }).success).toBe(false)
  })

  it('comes back from JSON as it was (CON-3)', () => {
    fc.assert(
      fc.property(arbitraryOf(PluginCard), (each) => {
        expect(PluginCard.parse(JSON.parse(JSON.stringify(each)))).toEqual(each)
      }),
    )
  })

  it('needs nothing unless it says so (CON-3)', () => {
    expect(Needs.parse({})).toEqual({})
  })
})

describe('a plugin in a file', () => {
  it.each(['sft', 'pass@3', 'pass^3', 'acme/dedupe', 'my.kind', 'a-b_c+d', 'X'])('may be called %j (CON-1)', (kind) => {
    expect(Kind.parse(kind)).toBe(kind)
  })

  it.each(['', '3x', '@a', '../x', '/x', 'a b', 'a\n', 'é', '__proto__', 'a{k}'])(
    'is not called %j (CON-1)',
    (kind) => {
      expect(Kind.safeParse(kind).success).toBe(false)
    },
  )

  it('is a kind and its params, and nothing else (CON-1)', () => {
    expect(PluginSpec.parse({ kind: 'sft' })).toStrictEqual({ kind: 'sft', params: {} })
    const params = { learning_rate: 1e-4, nested: { any: [1, null] } }
    expect(PluginSpec.parse({ kind: 'sft', params })).toStrictEqual({ kind: 'sft', params })
    for (const wrong of [
      {},
      { kind: 'sft', param: {} },
      { kind: 'sft', params: [] },
      { kind: 'sft', params: null },
      'sft',
    ]) {
      expect(PluginSpec.safeParse(wrong).success).toBe(false)
    }
  })
})

describe('a plugin in the params of another', () => {
  const Verifier = pluginReference('verifier')

  it('is found wherever its schema is marked (CON-1)', () => {
    const named = pluginReference('renderer', z.string().min(1))
    const Phase = z.strictObject({ kind: Kind, params: z.unknown(), name: z.string().optional() })
    const params = z
      .strictObject({
        plain: PluginSpec.optional(),
        held_out: Verifier.optional().describe('Scores beside the reward.'),
        renderer: named.default('qwen3').describe('Its name.'),
        phases: z.array(pluginReference('algorithm', Phase)).min(1).default([]),
        teacher: z.strictObject({ client: z.union([z.string(), pluginReference('inference_client')]).optional() }),
        by_name: z.record(z.string(), Verifier).prefault({}),
        piped: z.preprocess((value) => value, Verifier),
      })
      .refine(() => true)
    expect(paramReferences(params)).toEqual([
      { path: ['held_out'], type: 'verifier', form: 'spec' },
      { path: ['renderer'], type: 'renderer', form: 'name' },
      { path: ['phases', '*'], type: 'algorithm', form: 'spec' },
      { path: ['teacher', 'client'], type: 'inference_client', form: 'spec' },
      { path: ['by_name', '*'], type: 'verifier', form: 'spec' },
      { path: ['piped'], type: 'verifier', form: 'spec' },
    ])
    expect(paramReferences(z.strictObject(params.shape).extend({ more: z.int() }))).toHaveLength(6)
  })

  it('is read as it is without the mark, and a schema that holds itself ends (CON-1)', () => {
    expect(Verifier.parse({ kind: 'exact' })).toEqual({ kind: 'exact', params: {} })
    expect(z.toJSONSchema(Verifier)).toEqual(z.toJSONSchema(PluginSpec))
    const tree: z.ZodType = z.lazy(() => z.strictObject({ left: tree.optional(), verifier: Verifier }))
    expect(paramReferences(tree)).toEqual([{ path: ['verifier'], type: 'verifier', form: 'spec' }])
  })
})
