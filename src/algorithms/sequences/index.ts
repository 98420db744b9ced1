// What a trajectory is trained on.
export { type MergeOptions, mergeTurns, type TrainingSequence } from './merge-turns.ts'
export { answerOf, messageKey } from './message-key.ts'
export { policyDatum, supervisedSequence } from './sequence-datum.ts'
export { policySpan } from './turn-fault.ts'
