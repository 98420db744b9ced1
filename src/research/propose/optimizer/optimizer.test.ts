import { describe, expect, it } from 'vitest'
import { type KnobWorld, playSession } from '../../../../tests/knob-world.ts'
import { pluginContext } from '../../../../tests/plugin-context.ts'
import { inFullLane } from '../../../../tests/scale.ts'
import type { Idea, Knobs } from '../../../contracts/index.ts'
import { keyedRandom } from '../../../kernel/index.ts'
import { dimensionsOf, knobsAt } from './knob-space.ts'
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

const bowl: KnobWorld = {
  space: Object.fromEntries(['A', 'B', 'C', 'D', 'E', 'F'].map((name) => [name, range(0, 1)])),
  start: { A: 0.1, B: 0.9, C: 0.5, D: 0.2, E: 0.8, F: 0.5 },
  noise: 0.01,
  loss(knobs) {
    const [a, b, c, d, e, f] = ['A', 'B', 'C', 'D', 'E', 'F'].map((name) => number(knobs, name)) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ]
    return (
      (a - 0.6) ** 2 +
      2 * (b - 0.4 - 0.5 * (a - 0.6)) ** 2 +
      (c - 0.3) ** 2 +
      0.5 * (d - 0.7) ** 2 +
      0.2 * (e - 0.5) ** 2 +
      0.1 * (f - 0.9) ** 2
    )
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

type Play = (world: KnobWorld, seed: number, turns: number) => Promise<{ best: number[]; ranOut: number }>

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

const repeats = inFullLane ? 60 : 8

async function median(play: Play, world: KnobWorld, turns: number): Promise<number> {
  const ends: number[] = []
  for (let seed = 1; seed <= repeats; seed++) ends.push((await play(world, seed, turns)).best.at(-1) ?? 0)
  return ends.sort((a, b) => a - b)[Math.floor(repeats / 2)] ?? 0
}

describe('the optimizer', () => {
  it('finds gains within ten experiments where chance finds fewer (RES-504)', async () => {
    const start = digits.loss(digits.start)
    const found = await median(byOptimizer('auto'), digits, 10)
    expect(start - found).toBeGreaterThan(0.6 * (start - 0.05))
    expect(found).toBeLessThan(await median(byChance, digits, 10))
  })

  it('beats chance by far with more experiments, by every method (RES-504)', async () => {
    const chance = await median(byChance, bowl, 30)
    const results = {
      auto: await median(byOptimizer('auto'), bowl, 30),
      tpe: await median(byOptimizer('tpe'), bowl, 30),
      cma_es: await median(byOptimizer('cma_es'), bowl, 30),
    }
    if (process.env.SHOW) console.log(chance, results)
    expect(results.auto).toBeLessThan(0.5 * chance)
    expect(results.tpe).toBeLessThan(chance)
    expect(results.cma_es).toBeLessThan(chance)
  })

  it('learns where memory ends from the candidates that ran out of it (RES-505)', async () => {
    let ranOut = 0
    let late = 0
    for (let seed = 1; seed <= repeats; seed++) {
      const session = await byOptimizer('auto')(memory, seed, 25)
      ranOut += session.ranOut
      late += session.best.at(-1) ?? 0
    }
    if (process.env.SHOW) console.log(ranOut / repeats, late / repeats, memory.loss(memory.start))
    expect(ranOut / repeats).toBeLessThan(6)
    expect(late / repeats).toBeLessThan(memory.loss(memory.start) - 0.5)
  })
})
