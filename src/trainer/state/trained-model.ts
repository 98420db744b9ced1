import type { ServedModel } from '../served-model.ts'
import type { RunRecord } from './run-record.ts'
import type { SequenceGate } from './sequence-gate.ts'

/** A model in training, and what its clients have asked of it. */
export interface TrainedModel {
  readonly id: string
  readonly run: RunRecord
  readonly base: ServedModel
  readonly gate: SequenceGate
  /** Hash and promise of the request that made it: the same request again gets the same promise. */
  readonly made: { readonly hash: string; readonly requestId: string }
  /** `folder/name` of saves that are under way. */
  readonly saving: Set<string>
  /** Why it cannot be used any more. */
  lost: string | undefined
  lastRequestMs: number
}
