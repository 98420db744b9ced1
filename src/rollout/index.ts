// What other rooms may use of rollouts.
export {
  type BreakReason,
  lastTrained,
  type MergedTurns,
  type MergeOptions,
  mergeTurns,
  policyDatum,
  policySpan,
  supervisedSequence,
  type TrainingSequence,
  type TurnFault,
  type TurnSpan,
} from './segments/index.ts'
