// What is trained on of one attempt, with an advantage for every drawn token. An attempt that breaks into several sequences has one
// advantage in all of them.
import type { Trajectory } from '../../contracts/index.ts'
import { type MergeOptions, mergeTurns, type TrainingSequence } from '../sequences/index.ts'

export interface PolicySequence extends TrainingSequence {
  readonly trajectory: Trajectory
  /** As long as `tokens`; 0 where `mask` is. */
  readonly advantages: Float64Array
  /** Tokens that are trained on. */
  readonly trained: number
}

/** `advantage`: of every turn, or turn by turn. Sequences without a trained token are left out. */
export function policySequences(
  trajectory: Trajectory,
  advantage: number | readonly number[],
  options: MergeOptions = {},
): PolicySequence[] {
  return mergeTurns(trajectory.turns, options).sequences.flatMap((sequence) => {
    const { mask, spans, tokens } = sequence
    // Nothing predicts the first token.
    const trained = mask.subarray(1).reduce((sum, each) => sum + each, 0)
    if (trained === 0) return []
    const advantages = new Float64Array(tokens.length)
    for (const { turn, start, end, fault } of spans) {
      if (fault === undefined)
        advantages.fill(typeof advantage === 'number' ? advantage : (advantage[turn] ?? 0), start, end)
    }
    return [{ ...sequence, trajectory, advantages, trained }]
  })
}
