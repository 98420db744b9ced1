import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryOf } from '../../tests/arbitrary-of.ts'
import { Needs, PluginCard } from './plugin.ts'
import { Kind, PluginSpec } from './plugin-spec.ts'

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
