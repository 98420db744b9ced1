// Sessions played in memory to their end: what is run again before it, and what earlier sessions do.
import { describe, expect, it } from 'vitest'
import { type ResearchState, SessionSettings } from '../../src/contracts/index.ts'
import { createRegistry } from '../../src/kernel/index.ts'
import { openBank } from '../../src/research/keep/seed-bank.ts'
import { playSession } from '../../src/research/loop/play-session.ts'
import { researchPlugins } from '../../src/research/plugins.ts'
import { toyScore, toyTask } from './toy-research.ts'

const registry = createRegistry()
for (const plugin of researchPlugins) registry.add(plugin, { rank: 'built-in', label: 'built-in' })

async function play(
  budgets: readonly number[],
  settings: Partial<SessionSettings>,
  noise = 0.1,
): Promise<ResearchState[]> {
  const services = { registry, signal: new AbortController().signal }
  return await playSession(
    {
      settings: SessionSettings.parse({
        task: 'toy',
        task_hash: 'toy',
        metric: 'loss',
        direction: 'min',
        space: toyTask.knobs,
        train_seconds: 1,
        seed: 5,
        seeds: [...openBank([], 5)],
        strategy: { kind: 'default' },
        keep_rule: { kind: 'default' },
        proposer: { kind: 'optimizer' },
        workers: 1,
        budget: {},
        noise_runs: 5,
        control_every: 15,
        confirm_every: 5,
        ...settings,
      }),
      files: toyTask.baseline,
      services,
      fingerprint: (files) => JSON.stringify(files),
      run: ({ files }, { seed, split }) => ({
        status: 'scored',
        value: toyScore(files, seed, split, noise),
        items: 'fresh',
        secondary: {},
        wallS: 0,
        level: 'in-process',
      }),
    },
    budgets,
  )
}

const again = ({ attempts }: ResearchState) =>
  attempts.flatMap(({ runs }) => runs.filter(({ purpose }) => purpose === 'reevaluate'))

describe('before a session ends', { timeout: 120_000 }, () => {
  it('what may be better than its incumbent runs again, within its share, and the incumbent stands by all that is known (RES-535)', async () => {
    const [state] = await play([20], { rules: 2 })
    if (state === undefined) throw new Error('no session')
    expect(state.status).toBe('ended')
    expect(again(state).length).toBeGreaterThan(0)
    expect(again(state).length).toBeLessThanOrEqual(6 + 0.4 * state.spend.experiments + 1)
    const champion = state.attempts.find(({ id }) => id === state.incumbent)
    expect(champion?.scores.length).toBeGreaterThanOrEqual(2)
    // A run that was repeated is one of a candidate that had been judged, on a seed that it had not run.
    for (const { runs } of state.attempts) {
      const seeds = runs.filter(({ split, purpose }) => split === 'val' && purpose !== 'repeat').map(({ seed }) => seed)
      expect(new Set(seeds).size).toBe(seeds.length)
    }
  })

  it('is not for sessions that were begun with the first rules, nor for rules that know their incumbent by one run (RES-535)', async () => {
    for (const settings of [{}, { rules: 1 }, { rules: 2, keep_rule: { kind: 'greedy', params: {} } }]) {
      const [state] = await play([8], settings)
      expect(state && again(state)).toEqual([])
    }
    expect((await play([8], {}))[0]?.attempts).toEqual((await play([8], { rules: 1 }))[0]?.attempts)
  })

  it('ends as it would have with a smaller budget, whatever else is played (RES-532)', async () => {
    const [small, large] = await play([6, 12], { rules: 2 })
    expect(small?.spend.experiments).toBe(6)
    expect(large?.spend.experiments).toBe(12)
    expect((await play([6], { rules: 2 }))[0]?.incumbent).toBe(small?.incumbent)
    expect((await play([12], { rules: 2 }))[0]?.incumbent).toBe(large?.incumbent)
  })

  it('departs now and then while nothing gets better (RES-536)', async () => {
    const [state] = await play([30], { rules: 2 }, 0.02)
    const modes = new Set(state?.attempts.map(({ mode }) => mode))
    expect(modes).toContain('explore')
  })
})
