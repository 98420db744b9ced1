import { describe, expect, it } from 'vitest'
import { type KnobWorld, playSession, randomWorld, worldFiles } from '../../../../tests/knob-world.ts'
import { pluginContext } from '../../../../tests/plugin-context.ts'
import { inFullLane } from '../../../../tests/scale.ts'
import { Idea, type Knobs, SearchMode, type SearchRequest, type SearchState } from '../../../contracts/index.ts'
import { keyedRandom } from '../../../kernel/index.ts'
import { dimensionsOf, knobsAt } from '../../surrogate/knob-space.ts'
import { fitMemoryBorder } from './knob-model.ts'
import { optimizer } from './optimizer.ts'

const range = (low: number, high: number, log = false, integer = false) =>
  ({ kind: 'range', low, high, log, integer }) as const
const number = (knobs: Knobs, name: string) => Number(knobs[name])

// Error of a small network on digits: most is gained by the learning rate, then by width; too much of either hurts.
const digits: KnobWorld = {
  space: {
    LEARNING_RATE: range(0.001, 1, true),
    HIDDEN: { kind: 'choice', values: [8, 16, 32, 64, 128], ordered: true },
    BATCH: { kind: 'choice', values: [8, 16, 32, 64, 128], ordered: true },
    MOMENTUM: range(0, 0.98),
    DECAY: range(1e-6, 1e-1, true),
    ACTIVATION: { kind: 'choice', values: ['tanh', 'relu', 'sigmoid'], ordered: false },
  },
  start: { LEARNING_RATE: 0.01, HIDDEN: 16, BATCH: 64, MOMENTUM: 0, DECAY: 1e-3, ACTIVATION: 'tanh' },
  noise: 0.002,
  loss(knobs) {
    const rate = Math.log10(number(knobs, 'LEARNING_RATE') / (1 - number(knobs, 'MOMENTUM'))) + 0.8
    const width = Math.log2(number(knobs, 'HIDDEN')) - 6
    const batch = Math.log2(number(knobs, 'BATCH')) - 4.5
    const decay = Math.log10(number(knobs, 'DECAY')) + 4
    const shape = { tanh: 0.006, relu: 0, sigmoid: 0.02 }[String(knobs.ACTIVATION)] ?? 0
    return 0.05 + 0.03 * rate ** 2 + 0.004 * width ** 2 + 0.002 * batch ** 2 + 0.002 * decay ** 2 + shape
  },
}

// Width and batch help until memory ends, close to the best.
const memory: KnobWorld = {
  space: { WIDTH: range(16, 4096, true, true), BATCH: range(1, 256, true, true), LR: range(1e-4, 1, true) },
  start: { WIDTH: 64, BATCH: 8, LR: 0.003 },
  noise: 0.01,
  ranOut: (knobs) => number(knobs, 'WIDTH') * number(knobs, 'BATCH') > 16_000,
  loss: (knobs) =>
    2 -
    0.12 * Math.log2(number(knobs, 'WIDTH')) -
    0.06 * Math.log2(number(knobs, 'BATCH')) +
    0.2 * (Math.log10(number(knobs, 'LR')) + 1.5) ** 2,
}

type Play = (
  world: KnobWorld,
  seed: number,
  turns: number,
) => Promise<{ best: number[]; ranOut: number; state: SearchState }>

const byOptimizer =
  (method: 'auto' | 'tpe' | 'cma_es'): Play =>
  (world, seed, turns) =>
    playSession(
      world,
      async (brief) => (await optimizer.propose(brief, pluginContext(optimizer, { method }, { seed }))).ideas,
      { turns, seed },
    )

const byChance: Play = (world, seed, turns) => {
  const dimensions = dimensionsOf(world.space)
  return playSession(
    world,
    (_brief, turn): Idea[] => {
      const random = keyedRandom(seed, 'chance', turn)
      const point = dimensions.map(({ kind, levels = 1 }) => (kind === 'line' ? random.float() : random.int(levels)))
      const change = { kind: 'knobs' as const, knobs: knobsAt(dimensions, point) }
      return [
        { title: 't', hypothesis: '', family: 'f', category: 'hyperparameter', cost: 'same', parents: [], change },
      ]
    },
    { turns, seed },
  )
}

const repeats = inFullLane ? 60 : 7

/** Mean part of what could be gained that is gained. */
async function gained(play: Play, turns: number, worldOf: (seed: number) => KnobWorld, best: number): Promise<number> {
  let sum = 0
  for (let seed = 1; seed <= repeats; seed++) {
    const world = worldOf(seed)
    const start = world.loss(world.start)
    sum += (start - ((await play(world, seed, turns)).best.at(-1) ?? start)) / (start - best)
  }
  return sum / repeats
}

describe('the optimizer', () => {
  it('finds most of the gain on digits within ten experiments (RES-504)', async () => {
    expect(await gained(byOptimizer('auto'), 10, () => digits, 0.05)).toBeGreaterThan(0.6)
  })

  it('is far better than chance after ten experiments, whatever the world (RES-504)', async () => {
    const chance = await gained(byChance, 10, randomWorld, 1)
    const found = await gained(byOptimizer('auto'), 10, randomWorld, 1)
    expect(found).toBeGreaterThan(chance + 0.15)
  })

  it('is better than chance with TPE or CMA-ES alone (RES-504)', async () => {
    const chance = await gained(byChance, 25, randomWorld, 1)
    expect(await gained(byOptimizer('tpe'), 25, randomWorld, 1)).toBeGreaterThan(chance)
    expect(await gained(byOptimizer('cma_es'), 25, randomWorld, 1)).toBeGreaterThan(chance)
  })

  it('learns where memory ends from the candidates that ran out of it (RES-505)', async () => {
    const sessions = []
    for (let seed = 1; seed <= Math.min(repeats, 6); seed++) sessions.push(await byOptimizer('auto')(memory, seed, 20))
    const mean = (values: number[]) => values.reduce((sum, each) => sum + each, 0) / values.length
    expect(mean(sessions.map(({ ranOut }) => ranOut))).toBeLessThan(5)
    expect(mean(sessions.map(({ best }) => best.at(-1) ?? 0))).toBeLessThan(memory.loss(memory.start) - 0.5)
    const point = (width: number) => [{ point: [0.5 + width, 0.5, 0.5], ranOut: width > 0.2 }]
    const border = fitMemoryBorder([0, 0.1, 0.3].flatMap(point), [0.5, 0.5, 0.5])
    expect(border([0.9, 0.5, 0.5])).toBeGreaterThan(0.5)
    expect(border([0.5, 0.5, 0.5])).toBeLessThan(0.35)
  })

  it('gives several different untried ideas, the same for the same draws (RES-504)', async () => {
    const { state } = await byOptimizer('auto')(digits, 3, 6)
    const ask = (mode: SearchMode, changes: Partial<SearchRequest> = {}) => {
      const request = { parents: [state.incumbent], mode, ideas: 5, avoidFamilies: [], ...changes }
      const knobs = state.attempts.find(({ id }) => id === state.incumbent)?.knobs ?? {}
      return optimizer.propose({ text: '', request, state, files: worldFiles(knobs) }, pluginContext(optimizer))
    }
    for (const mode of SearchMode.options) {
      const { ideas, usage } = await ask(mode)
      expect(ideas, mode).toHaveLength(5)
      expect(new Set(ideas.map(({ change }) => JSON.stringify(change))).size, mode).toBe(5)
      expect(await ask(mode), mode).toEqual({ ideas })
      expect(usage).toBeUndefined()
      for (const idea of ideas) expect(Idea.safeParse(idea).success).toBe(true)
    }
    const [first] = (await ask('improve')).ideas
    const others = (await ask('improve', { avoidFamilies: [first?.family ?? ''] })).ideas
    expect(others.map(({ family }) => family)).not.toContain(first?.family)
  })

  it('goes half of the way when an idea of its own was turned down (RES-513)', async () => {
    const files = worldFiles(digits.start)
    const idea: Idea = {
      title: 't',
      hypothesis: '',
      family: 'f',
      category: 'optimizer',
      cost: 'same',
      parents: [],
      change: { kind: 'knobs', knobs: { LEARNING_RATE: 1, HIDDEN: 128 } },
    }
    const state = { direction: 'min', attempts: [], incumbent: '', space: digits.space, banned: [] } as const
    const request = { parents: [], mode: 'improve', ideas: 3, avoidFamilies: [] } as const
    const repair = { idea, failures: [{ class: 'oom', reason: 'too large' } as const] }
    const { ideas } = await optimizer.propose({ text: '', request, state, files, repair }, pluginContext(optimizer))
    expect(ideas.map(({ change }) => change)).toEqual([{ kind: 'knobs', knobs: { LEARNING_RATE: 0.1, HIDDEN: 64 } }])
  })

  it('says what to do where there is no knob (RES-504)', async () => {
    const brief = {
      text: '',
      request: { parents: [], mode: 'improve', ideas: 1, avoidFamilies: [] },
      state: { direction: 'min', attempts: [], incumbent: '', space: {}, banned: [] },
      files: { 'a.py': 'x = 1\n' },
    } as const
    await expect(optimizer.propose(brief, pluginContext(optimizer))).rejects.toMatchObject({ code: 'PLUGIN_FAILED' })
  })
})
