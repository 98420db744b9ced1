// Whether the tokens of a turn may be trained on. A missing log-probability is never read as 0, which would mean certainty.
import type { Turn, TurnTokens } from '../../contracts/index.ts'

/** Why a turn is not trained on. */
export type TurnFault =
  /** The model does not tell its tokens. */
  | 'no_tokens'
  /** A token that no vocabulary has. */
  | 'bad_tokens'
  | 'empty'
  | 'missing_logprobs'
  /** Not finite, or above 0. */
  | 'bad_logprobs'
  /** Drawn by weights that are too old. */
  | 'stale'
  /** The caller does not want it. */
  | 'excluded'

export interface TrainableOptions {
  /** Turns of weights that are older than this many optimiser steps are not trained on. */
  readonly staleness?: { readonly trainStep: number; readonly maxStepsOffPolicy: number }
  /** True: the turn stays in its sequence and is not trained on, as after an answer that could not be parsed. */
  exclude?(turn: Turn, index: number): boolean
}

/** Rounding of a distribution's sum may lift the likeliest token this far above certainty. */
const slack = 1e-6

/** Why the turn is not trained on; undefined where it is. */
export function turnFault(
  turn: Turn,
  index: number,
  { staleness, exclude }: TrainableOptions = {},
): TurnFault | undefined {
  const { tokens } = turn
  if (tokens === undefined) return 'no_tokens'
  if (!areTokens(tokens)) return 'bad_tokens'
  const { completion, logprobs, policyVersion } = tokens
  if (completion.length === 0) return 'empty'
  if (logprobs.length !== completion.length) return 'missing_logprobs'
  if (!logprobs.every((value) => Number.isFinite(value) && value <= slack)) return 'bad_logprobs'
  if (staleness !== undefined && staleness.trainStep - policyVersion > staleness.maxStepsOffPolicy) return 'stale'
  return exclude?.(turn, index) === true ? 'excluded' : undefined
}

/** Oldest and newest weights that answered; undefined where no turn tells. */
export function policySpan(turns: readonly Turn[]): { min: number; max: number } | undefined {
  const versions = turns.flatMap(({ tokens }) => (tokens === undefined ? [] : [tokens.policyVersion]))
  return versions.length === 0 ? undefined : { min: Math.min(...versions), max: Math.max(...versions) }
}

function areTokens({ prompt, completion }: TurnTokens): boolean {
  return prompt.every((token) => token >= 0) && completion.every((token) => token >= 0)
}
