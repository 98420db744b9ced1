// Where to look next: a pool of points drawn by TPE, by CMA-ES, near the best and at large; the surrogate takes from it, one by one,
// those from which it expects the most.
import type { Random, SearchMode } from '../../../contracts/index.ts'
import { clamp, type Dimension, keyOf, knobsAt, type Point, settled } from '../../surrogate/knob-space.ts'
import { sampleCmaEs } from './cma-es.ts'
import type { KnobModel } from './knob-model.ts'
import { sampleTpe } from './tpe.ts'

type OptimizerMethod = 'auto' | 'tpe' | 'cma_es'

/** Chance of running out of memory up to which a point is proposed. */
export const mostRisk = 0.35

export interface Suggestion {
  readonly point: Point
  /** Loss of the base less that of the point, as it is expected. */
  readonly gain: number
}

/** Up to `count` points that were not tried. */
export function suggestPoints(
  model: KnobModel,
  { mode, count, method }: { readonly mode: SearchMode; readonly count: number; readonly method: OptimizerMethod },
  random: Random,
): Suggestion[] {
  const pool = distinct(model, drawPool(model, mode, method, random))
  const safe = pool.filter((point) => model.ranOut(point) < mostRisk)
  const usable = safe.length > 0 ? safe : [...pool].sort((a, b) => model.ranOut(a) - model.ranOut(b)).slice(0, count)
  if (method !== 'auto') return usable.slice(0, count).map((point) => withGain(model, point))
  return takeBest(model, usable, count, mode === 'explore')
}

function drawPool(model: KnobModel, mode: SearchMode, method: OptimizerMethod, random: Random): Point[] {
  const { dimensions, observations } = model
  const tpe = () => sampleTpe(dimensions, observations, 32, random).map(({ point }) => point)
  const cma = () => drawCma(model, 32, random)
  if (method === 'tpe') return mode === 'explore' ? [...uniform(model, 8, random), ...tpe()] : tpe()
  if (method === 'cma_es') return [...cma(), ...tpe()]
  const isStart = model.observed.length < 2
  const near = nearBest(model, isStart ? 64 : 96, isStart, random)
  if (mode === 'explore') return [...uniform(model, 48, random), ...tpe(), ...near]
  // With nothing to compare, a step from what is known to run.
  return isStart ? near : [...near, ...tpe(), ...cma(), ...uniform(model, 8, random)]
}

function drawCma(model: KnobModel, count: number, random: Random): Point[] {
  const { cma, dimensions, base } = model
  if (cma === undefined) return []
  const onLines = base.filter((_, i) => dimensions[i]?.kind === 'line')
  return sampleCmaEs(cma, count, random).map((drawn, draw) => {
    // Every other draw is around the base: with few generations the mean lags behind the best.
    const centred = draw % 2 === 0 ? onLines.map((value, i) => value - (cma.mean[i] ?? 0)) : []
    let next = 0
    return dimensions.map(({ kind, levels = 1 }, i) => {
      if (kind === 'line') return clamp((drawn[next] ?? 0) + (centred[next++] ?? 0))
      return random.float() < 0.8 ? (base[i] ?? 0) : random.int(levels)
    })
  })
}

function uniform({ dimensions }: KnobModel, count: number, random: Random): Point[] {
  return Array.from({ length: count }, () =>
    dimensions.map(({ kind, levels = 1 }) => (kind === 'line' ? random.float() : random.int(levels))),
  )
}

// Most gains come from a few knobs, and often the same ones: those are turned first while nothing else is known.
const eager: readonly (readonly [RegExp, number])[] = [
  [/(?:^|_)LR(?:_|$)|LEARNING_RATE|STEP_SIZE/i, 4],
  [/WIDTH|HIDDEN|UNITS|CHANNELS|EMBD|EMBED|DIM/i, 2.5],
  [/BATCH|DEPTH|LAYERS|MOMENTUM|EPOCHS/i, 2],
]

function nearBest(model: KnobModel, count: number, isStart: boolean, random: Random): Point[] {
  const { dimensions, base, observed } = model
  const best = [...observed].sort((a, b) => a.loss - b.loss).slice(0, 3)
  const weights = dimensions.map(({ name }) =>
    isStart ? (eager.find(([pattern]) => pattern.test(name))?.[1] ?? 1) : 1,
  )
  return Array.from({ length: count }, (_, i) => {
    const from = i % 3 === 2 ? (best[random.int(Math.max(1, best.length))]?.point ?? base) : base
    const draw = random.float()
    const turned = isStart ? (draw < 0.7 ? 1 : 2) : draw < 0.45 ? 1 : draw < 0.75 ? 2 : 3
    const point = [...from]
    for (let k = 0; k < turned; k++) {
      const at = pickWeighted(weights, random)
      const size = isStart ? 0.25 : ([0.07, 0.15, 0.3][random.int(3)] ?? 0.15)
      point[at] = stepped(dimensions[at], point[at] ?? 0, size, random)
    }
    return point
  })
}

function stepped(dimension: Dimension | undefined, from: number, size: number, random: Random): number {
  const { kind = 'line', levels } = dimension ?? {}
  if (kind === 'category') return (from + 1 + random.int(Math.max(1, (levels ?? 2) - 1))) % (levels ?? 2)
  // At least half the size, so that the step shows; at least one value further.
  const smallest = levels === undefined ? 0 : 1 / (levels - 1)
  const length = Math.max(smallest, size * (0.5 + Math.abs(random.normal())))
  const sign = random.float() < 0.5 ? -1 : 1
  const to = from + sign * length
  return clamp(to < 0 || to > 1 ? from - sign * length : to)
}

function pickWeighted(weights: readonly number[], random: Random): number {
  let left = random.float() * weights.reduce((sum, each) => sum + each, 0)
  const found = weights.findIndex((weight) => {
    left -= weight
    return left < 0
  })
  return Math.max(0, found)
}

/** Points as their knobs have them, none that was tried, none twice. */
export function distinct({ dimensions, tried }: KnobModel, points: readonly Point[]): Point[] {
  const seen = new Set(tried)
  return points.flatMap((point) => {
    const key = keyOf(dimensions, point)
    if (seen.has(key)) return []
    seen.add(key)
    return [settled(dimensions, point)]
  })
}

/** By expected improvement; every choice is believed before the next is made, so that the choices differ. */
function takeBest(model: KnobModel, pool: readonly Point[], count: number, isBold: boolean): Suggestion[] {
  const { dimensions, base, surrogate, observed } = model
  // The base was meant to work: what lies far from it is trusted later.
  const reach = 0.3 + 0.05 * observed.length
  const trust = (point: Point) => {
    if (isBold) return 1
    const distance = point.reduce(
      (sum, value, i) => sum + (dimensions[i]?.kind === 'line' ? (value - (base[i] ?? 0)) ** 2 : 0),
      0,
    )
    return Math.exp((-0.5 * distance) / reach ** 2)
  }
  const weights = pool.map((point) => (1 - model.ranOut(point)) * trust(point))
  const before = surrogate.predict(base).mean
  let target = Math.min(before, ...observed.map(({ point }) => surrogate.predict(point).mean))
  const { belief, choose } = surrogate.among(pool)
  const left = new Set(pool.keys())
  const chosen: Suggestion[] = []
  while (chosen.length < count && left.size > 0) {
    let best: { place: number; worth: number; mean: number } | undefined
    for (const place of left) {
      const { mean, sd } = belief(place)
      const worth = improvement(target - mean, isBold ? sd * 1.5 : sd) * (weights[place] ?? 0)
      if (best === undefined || worth > best.worth) best = { place, worth, mean }
    }
    if (best === undefined) break
    const { place, mean } = best
    left.delete(place)
    chosen.push({ point: pool[place] ?? base, gain: observed.length < 2 ? 0 : before - mean })
    choose(place)
    target = Math.min(target, mean)
  }
  return chosen
}

function improvement(gain: number, sd: number): number {
  const z = gain / sd
  const density = Math.exp(-0.5 * z * z) / Math.sqrt(2 * Math.PI)
  return sd * (z * cumulative(z) + density)
}

// Logistic stand-in of the normal distribution: it only has to rank.
function cumulative(z: number): number {
  return 1 / (1 + Math.exp(-Math.min(40, Math.max(-40, 1.5976 * z + 0.07056 * z ** 3))))
}

export function withGain({ surrogate, base, observed }: KnobModel, point: Point): Suggestion {
  return { point, gain: observed.length < 2 ? 0 : surrogate.predict(base).mean - surrogate.predict(point).mean }
}

/** The knobs of a point that differ from those of the base. */
export function turnedAt({ dimensions, knobs }: KnobModel, point: Point): Record<string, number | string | boolean> {
  const all = knobsAt(dimensions, point)
  return Object.fromEntries(Object.entries(all).filter(([name, value]) => knobs[name] !== value))
}
