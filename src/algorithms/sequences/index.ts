// What a trajectory is trained on.
export type { BreakReason } from './break-reason.ts'
export {
  lastTrained,
  type MergedTurns,
  type MergeOptions,
  mergeTurns,
  type TrainingSequence,
  type TurnSpan,
} from './merge-turns.ts'
export { answerOf, messageKey } from './message-key.ts'
export { policyDatum, supervisedSequence } from './sequence-datum.ts'
export { policySpan, type TurnFault } from './turn-fault.ts'
