// A made-up task over knobs for tests of proposers: a file with constants, a loss with noise, a border of memory; and a greedy session.
import type { Attempt, Brief, Idea, KnobSpec, Knobs, SearchState } from '../src/contracts/index.ts'
import { keyedRandom } from '../src/kernel/index.ts'
import { materialise } from '../src/research/propose/materialise.ts'
import { dimensionsOf, pointOf } from '../src/research/surrogate/knob-space.ts'

export interface KnobWorld {
  readonly space: Readonly<Record<string, KnobSpec>>
  readonly start: Knobs
  /** Without noise; lower is better. */
  loss(knobs: Knobs): number
  readonly noise: number
  ranOut?(knobs: Knobs): boolean
}

export type AskForIdeas = (brief: Brief, turn: number) => Promise<readonly Idea[]> | readonly Idea[]

/** The candidate of a world: one constant for each knob. */
export function worldFiles(knobs: Knobs): Record<string, string> {
  const lines = Object.entries(knobs).map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}\n`)
  return { 'train.mjs': lines.join('') }
}

/** The first idea of every turn is run on one seed; the best measured is the incumbent. Gives the best true loss after each turn. */
export async function playSession(
  world: KnobWorld,
  ask: AskForIdeas,
  { turns, seed }: { turns: number; seed: number },
): Promise<{ best: number[]; state: SearchState; ranOut: number }> {
  const attempts: Attempt[] = [measured(world, 0, world.start, [], seed)]
  let incumbent = attempts[0]
  const best: number[] = []
  let ranOut = 0
  for (let turn = 1; turn <= turns; turn++) {
    const state = stateOf(world, attempts, incumbent?.id ?? '')
    const files = worldFiles(incumbent?.knobs ?? world.start)
    const request = { parents: [state.incumbent], mode: 'improve', ideas: 1, avoidFamilies: [] } as const
    const [idea] = await ask({ text: '', request, state, files }, turn)
    const made = idea && materialise(idea, files, world.space)
    if (made !== undefined && 'files' in made) {
      const attempt = measured(world, turn, made.knobs, [state.incumbent], seed)
      attempts.push(attempt)
      if (attempt.failure?.class === 'oom') ranOut++
      const [value, bar] = [attempt.scores[0]?.value, incumbent?.scores[0]?.value]
      if (value !== undefined && bar !== undefined && value < bar) incumbent = attempt
    }
    best.push(world.loss(incumbent?.knobs ?? world.start))
  }
  return { best, state: stateOf(world, attempts, incumbent?.id ?? ''), ranOut }
}

function stateOf(world: KnobWorld, attempts: readonly Attempt[], incumbent: string): SearchState {
  return { direction: 'min', attempts, incumbent, space: world.space, banned: [] }
}

function measured(world: KnobWorld, number: number, knobs: Knobs, parents: string[], seed: number): Attempt {
  const isOut = world.ranOut?.(knobs) ?? false
  const value = world.loss(knobs) + world.noise * keyedRandom(seed, 'noise', number).normal()
  return {
    id: `a${number}`,
    number,
    parents,
    title: `attempt ${number}`,
    hypothesis: '',
    family: 'knob',
    category: 'hyperparameter',
    mode: 'improve',
    knobs,
    fingerprint: JSON.stringify(knobs),
    lines: Object.keys(knobs).length,
    scores: isOut ? [] : [{ seed: 1, value, secondary: {} }],
    verdict: isOut ? 'failed' : 'discarded',
    ...(isOut ? { failure: { class: 'oom' as const, reason: 'out of memory' } } : {}),
  }
}

/** A world of four to nine knobs, some of which matter much, whose best lies somewhere around the start. Losses begin at 1. */
export function randomWorld(seed: number): KnobWorld {
  const random = keyedRandom(seed, 'world')
  const names = ['LEARNING_RATE', 'HIDDEN', 'BATCH', 'MOMENTUM', 'DECAY', 'WARMUP', 'KIND', 'SCALE', 'CLIP']
  const space: Record<string, KnobSpec> = {}
  const start: Knobs = {}
  const weights: Record<string, number> = {}
  for (const [place, name] of names.slice(0, 4 + random.int(6)).entries()) {
    weights[name] = (place === 0 ? 3 : 1) * Math.exp(random.normal())
    if (name === 'HIDDEN' || name === 'BATCH') {
      space[name] = { kind: 'choice', values: [8, 16, 32, 64, 128], ordered: true }
      start[name] = [16, 32, 64][random.int(3)] ?? 32
    } else if (name === 'KIND') {
      space[name] = { kind: 'choice', values: ['a', 'b', 'c'], ordered: false }
      start[name] = 'a'
    } else {
      space[name] = { kind: 'range', low: 0.01, high: 1, log: true, integer: false }
      start[name] = 0.1
    }
  }
  const dimensions = dimensionsOf(space)
  const best = (pointOf(dimensions, start) ?? []).map((value, i) =>
    dimensions[i]?.kind === 'category' ? random.int(3) : Math.min(1, Math.max(0, value + 0.25 * random.normal())),
  )
  const loss = (knobs: Knobs) => {
    const point = pointOf(dimensions, knobs) ?? []
    const sum = point.reduce((total, value, i) => {
      const { name = '', kind } = dimensions[i] ?? {}
      const apart = value - (best[i] ?? 0)
      return total + (weights[name] ?? 0) * (kind === 'category' ? (apart === 0 ? 0 : 0.03) : apart ** 2)
    }, 0)
    return 1 + sum / (1 + 0.3 * sum) // far away it hardly gets worse
  }
  return { space, start, loss, noise: 0.01 }
}
