import { describe, expect, it } from 'vitest'
import { smallHeader, smallValues } from '../../../tests/table-files.ts'
import { createRegistry } from '../../kernel/index.ts'
import { researchPlugins } from '../../research/plugins.ts'
import { benchSessions, type SessionRules } from './bench-sessions.ts'
import { noisySessions, nullSessions, type SessionWorld, tableSessions } from './session-world.ts'

const { name, seeds, axes } = smallHeader
const table = { name, direction: 'min' as const, seeds, axes, values: smallValues() }
const registry = createRegistry()
for (const plugin of researchPlugins) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
const { signal } = new AbortController()

const entry = (rules: number, kind = 'default'): SessionRules => ({
  name: `${kind} ${rules}`,
  settings: { rules, keep_rule: { kind, params: {} } },
})
const bench = (worlds: readonly SessionWorld[], entries: readonly SessionRules[], repeats: number, budget = 25) =>
  benchSessions({ worlds, entries, repeats, experiments: [10, budget], seed: 3, registry, signal })

describe('whole sessions', { timeout: 240_000 }, () => {
  it('are judged by what they end with, and repeat exactly (RES-532)', async () => {
    const rows = await bench([tableSessions(table)], [entry(2), entry(2, 'greedy')], 2)
    expect(rows.map(({ rules, experiments }) => [rules, experiments])).toEqual([
      ['default 2', 10],
      ['default 2', 25],
      ['greedy 2', 10],
      ['greedy 2', 25],
    ])
    for (const { regret, visited, rank, runs, experiments, confirmed } of rows) {
      expect(regret).toBeGreaterThanOrEqual(visited - 1e-12)
      expect(visited).toBeGreaterThanOrEqual(0)
      expect(rank).toBeGreaterThanOrEqual(1)
      expect(runs).toBeGreaterThan(experiments)
      expect(confirmed).toBe(0) // a table has no hidden split
    }
    expect(await bench([tableSessions(table)], [entry(2)], 2)).toEqual(rows.slice(0, 2))
    const [first, , other] = rows
    expect(first?.behind).toBeNull()
    expect(other?.behind?.regret).toBeCloseTo((other?.regret ?? 0) - (first?.regret ?? 0), 12)
    expect(other?.behind?.ci[0]).toBeLessThanOrEqual(other?.behind?.regret ?? 0)
  })

  it('lose less of what the search finds than those of the first rules, where noise is a share of the loss (RES-533)', async () => {
    const [, before, , now] = await bench([noisySessions(table, 'relative')], [entry(1), entry(2)], 6)
    expect(now?.regret).toBeLessThanOrEqual(0.5 * (before?.regret ?? 0))
  })

  it('confirm hardly anything where nothing can be gained (RES-534)', async () => {
    const worlds = (['absolute', 'items'] as const).map((kind) => nullSessions(table, kind))
    const rows = await bench(worlds, [entry(2)], 6, 20)
    for (const { confirmed, falsely_confirmed, regret } of rows) {
      expect(confirmed).toBe(falsely_confirmed)
      expect(falsely_confirmed).toBeLessThan(0.5)
      expect(regret).toBe(0)
    }
  })
})
