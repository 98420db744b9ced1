// Sequences as examples of the training protocol, and the way back: an example alone does not tell a drawn token whose advantage
// and log-probability are 0 from a token of the prompt.
import type { Datum } from '../../contracts/index.ts'
import { policyDatum } from '../sequences/index.ts'
import type { PolicySequence } from './policy-sequences.ts'

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
