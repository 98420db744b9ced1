// Trajectories in the format that other tools read.
export { finalMetrics } from './final-metrics.ts'
export { parseTrajectory, readTrajectory } from './read-trajectory.ts'
export { type TrajectoryOptions, trajectoryOf } from './trajectory-of.ts'
export { turnsOf } from './turns-of.ts'
export { splitTrajectory, trajectoryText, type WriteTrajectoryOptions, writeTrajectory } from './write-trajectory.ts'
