import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createRegistry } from '../kernel/index.ts'
import { allBuiltins, researchPlugins } from './plugins.ts'

describe('plugins of research', () => {
  it('hold these strategies (RES-101)', () => {
    const kinds = researchPlugins.filter(({ type }) => type === 'strategy').map(({ kind }) => kind)
    expect(kinds).toEqual(['default', 'reference', 'greedy', 'greedy-dedup', 'random'])
  })

  it.each(researchPlugins.map((plugin) => [`${plugin.type} ${plugin.kind}`, plugin] as const))(
    '%s is described for people and machines (RES-101)',
    (name, plugin) => {
      expect(plugin.summary).toMatch(/^[A-Z<].{10,140}\.$/)
      const schema = z.toJSONSchema(plugin.params, { io: 'input' })
      expect(schema.additionalProperties, `${name} takes params that it does not know`).toBe(false)
      for (const [field, { description }] of Object.entries(schema.properties ?? {}) as [
        string,
        { description?: string | undefined },
      ][]) {
        expect(description, `${name}.${field} has no description`).toMatch(/\.$/)
      }
    },
  )

  it('fit into one registry with the others (RES-101)', async () => {
    const registry = createRegistry()
    for (const plugin of await allBuiltins()) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
    expect(registry.notices).toEqual([])
    expect(registry.get('strategy', 'reference')).toMatchObject({ plugin: { kind: 'reference' } })
  })
})
