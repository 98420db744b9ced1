// What other rooms may use of the store. What it offers is `Store` in the contracts.
export type {
  CheckpointRow,
  ClaimedJob,
  CurvePoint,
  DurableJobs,
  EvalRow,
  ExperimentRow,
  JobOptions,
  Lease,
  Leases,
  Migrated,
  NewExperiment,
  RunRow,
  Store as OpenStore,
  TrainingRunRow,
  Verdicts,
} from '../contracts/index.ts'
export { STORE_VERSION } from './migrations/migrate.ts'
export { type OpenStoreOptions, openStore } from './open-store.ts'
export { requireTraining, requireTrainingPlan } from './read-runs.ts'
