// Which turns of an attempt a reward counts for.
import type { AdvantageKind } from './advantages.ts'
import { advantagesOf } from './advantages.ts'

export interface Attempt {
  /** Of the whole attempt. */
  readonly reward: number
  /** Turns of the policy. */
  readonly turns: number
  /** What turns earned by themselves, in order; turns beyond its end earned nothing. */
  readonly turnRewards?: readonly number[]
}

export interface CreditOptions {
  readonly advantage: AdvantageKind
  readonly credit: 'trajectory' | 'turn'
  readonly discount: number
}

/** For each attempt of a group the advantage of every turn. */
export function turnAdvantages(group: readonly Attempt[], { advantage, credit, discount }: CreditOptions): number[][] {
  if (credit === 'trajectory') {
    const advantages_G = advantagesOf(
      group.map(({ reward }) => reward),
      advantage,
    )
    return group.map(({ turns }, g) => Array.from({ length: turns }, () => advantages_G[g] ?? 0))
  }
  const returns_G = group.map((attempt) => turnReturns(attempt, discount))
  const longest = returns_G.reduce((most, returns) => Math.max(most, returns.length), 0)
  const advantages_G = returns_G.map((): number[] => [])
  for (let turn = 0; turn < longest; turn++) {
    // Turns are compared with the same turn of the others; an attempt that was over by then stays with what its last turn brought.
    const compared = advantagesOf(
      returns_G.map((returns) => returns[Math.min(turn, returns.length - 1)] ?? 0),
      advantage,
    )
    for (const [g, returns] of returns_G.entries()) {
      if (turn < returns.length) advantages_G[g]?.push(compared[g] ?? 0)
    }
  }
  return advantages_G
}

/** What came after each turn, itself included: G_i = r_i + discount G_(i+1). The reward of the whole comes with the last turn. */
export function turnReturns({ reward, turns, turnRewards = [] }: Attempt, discount: number): number[] {
  const returns: number[] = new Array(turns).fill(0)
  let later = 0
  for (let turn = turns - 1; turn >= 0; turn--) {
    later = (turnRewards[turn] ?? 0) + (turn === turns - 1 ? reward : discount * later)
    returns[turn] = later
  }
  return returns
}
