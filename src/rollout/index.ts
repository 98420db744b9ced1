// What other rooms may use of rollouts.
export {
  finalMetrics,
  parseTrajectory,
  readTrajectory,
  splitTrajectory,
  type TrajectoryOptions,
  trajectoryOf,
  trajectoryText,
  turnsOf,
  type WriteTrajectoryOptions,
  writeTrajectory,
} from './atif/index.ts'
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
