// A made-up task over knobs for tests of proposers: a file with constants, a loss with noise, a border of memory; and a greedy session.
import type { Attempt, Brief, Idea, KnobSpec, Knobs, SearchState } from '../src/contracts/index.ts'
import { keyedRandom } from '../src/kernel/index.ts'
import { materialise } from '../src/research/propose/materialise.ts'

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

export function stateOf(world: KnobWorld, attempts: readonly Attempt[], incumbent: string): SearchState {
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
