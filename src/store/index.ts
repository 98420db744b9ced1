// What other rooms may use of the store.
export type { NewExperiment } from './create-experiment.ts'
export type { ClaimedJob, DurableJobs, JobOptions, JobState } from './durable-jobs.ts'
export type { Lease, Leases } from './leases.ts'
export { type Migrated, STORE_VERSION } from './migrate.ts'
export { type OpenStore, type OpenStoreOptions, openStore } from './open-store.ts'
export type { CurvePoint } from './read-points.ts'
export type { EvalRow, ExperimentRow, RunRow } from './read-record.ts'
export type { Verdicts } from './verdicts.ts'
