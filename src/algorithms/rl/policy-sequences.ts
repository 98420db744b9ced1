// What is trained on of one attempt, with an advantage for every drawn token. An attempt that breaks into several sequences has one
// advantage in all of them.
import type { Datum, StepContext, Trajectory, Weights } from '../../contracts/index.ts'
import { mapConcurrent } from '../../kernel/index.ts'
import { policyDatum } from '../sequences/datums.ts'
import { type MergeOptions, mergeTurns, type TrainingSequence } from '../sequences/merge-turns.ts'
import { sumOf, tokenLogprobs } from '../sequences/rollouts.ts'
import type { Normalisation } from './rl-params.ts'

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

// Distance from the reference in the reward: a token that has become likelier than under the reference by more than the mean of the
// batch loses advantage, one that did by less gains it. The mean is taken off so that the penalty moves no reward as a whole.
/** Sequences whose advantages hold the penalty coef (mean(d) - d_t), d = log-probability drawn with - that of the reference. */
export function withKlPenalty(
  sequences: readonly PolicySequence[],
  references: readonly Float64Array[],
  coef: number,
): PolicySequence[] {
  const mean = klToReference(sequences, references)
  return sequences.map((sequence, s) => ({
    ...sequence,
    advantages: sequence.advantages.map((advantage, t) =>
      isTrained(sequence, t) ? advantage + coef * (mean - difference(sequence, references[s], t)) : advantage,
    ),
  }))
}

/** Mean of d over the tokens that are trained on: how far the policy that answered is from the reference. */
export function klToReference(sequences: readonly PolicySequence[], references: readonly Float64Array[]): number {
  let sum = 0
  let tokens = 0
  for (const [s, sequence] of sequences.entries()) {
    for (let t = 1; t < sequence.tokens.length; t++) {
      if (!isTrained(sequence, t)) continue
      sum += difference(sequence, references[s], t)
      tokens += 1
    }
  }
  return sum / Math.max(1, tokens)
}

// Nothing predicts the first token.
function isTrained({ mask }: PolicySequence, t: number): boolean {
  return t > 0 && mask[t] === 1
}

function difference({ logprobs }: PolicySequence, reference: Float64Array | undefined, t: number): number {
  return (logprobs[t] ?? 0) - (reference?.[t] ?? 0)
}

/** For each sequence the reference's log-probabilities of its tokens; 0 where nothing is trained on. `limit`: requests at a time. */
export async function referenceLogprobs(
  sequences: readonly PolicySequence[],
  {
    reference,
    limit,
    ...context
  }: Pick<StepContext<unknown>, 'service' | 'signal'> & { reference: Weights; limit: number },
): Promise<Float64Array[]> {
  return await mapConcurrent(sequences, { limit, signal: context.signal }, async ({ tokens, mask }) => {
    const logprobs = await tokenLogprobs(context, reference, tokens)
    return Float64Array.from(mask, (trained, t) => (trained === 0 ? 0 : (logprobs[t] ?? 0)))
  })
}

// What one token counts. Losses of the training protocol are sums over tokens, so a mean is made by dividing advantages.
/** A factor for the tokens of each sequence. All but `none` make the factors of all trained tokens add up to 1. */
export function scalesOf(
  sequences: readonly Pick<PolicySequence, 'trained' | 'trajectory'>[],
  kind: Normalisation,
): number[] {
  switch (kind) {
    case 'none':
      return sequences.map(() => 1)
    case 'token': {
      const tokens = sumOf(sequences.map(({ trained }) => trained))
      return sequences.map(() => 1 / tokens)
    }
    case 'sequence':
      return sequences.map(({ trained }) => 1 / (sequences.length * trained))
    case 'trajectory': {
      const tokensOf = new Map<object, number>()
      for (const { trajectory, trained } of sequences) {
        tokensOf.set(trajectory, (tokensOf.get(trajectory) ?? 0) + trained)
      }
      return sequences.map(({ trajectory }) => 1 / (tokensOf.size * (tokensOf.get(trajectory) ?? 1)))
    }
  }
}

// Sequences as examples of the training protocol, and the way back: an example alone does not distinguish a drawn token whose advantage
// and log-probability are 0 from a token of the prompt.
const made = new WeakMap<Datum, PolicySequence>()

export function trainedDatum(sequence: PolicySequence): Datum | undefined {
  const datum = policyDatum(sequence, sequence.advantages)
  if (datum !== undefined) made.set(datum, sequence)
  return datum
}

/** The sequence that an example was made of. */
export function sequenceOfDatum(datum: Datum): PolicySequence | undefined {
  return made.get(datum)
}
