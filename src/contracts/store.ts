// The record as the rest of evsys sees it: one interface, whatever database holds it. Rows are parsed on the way out, so a row
// that does not fit is a damaged record (STORE_FAILED) and no surprise later.

import type { ErrorRecord } from './error.ts'
import type { Artifact, ExperimentEvent, RunEvent, RunStatus, Verdict } from './events.ts'
import type { Candidate, Job, RecordedPlan, ResolvedObjective } from './plan.ts'
import type { Bounds, MetricRanges, Metrics, MetricTables, TaskScores, ThinClasses } from './quantity.ts'
import type { Ack, DurableJobs, Item, JobOptions, Lease, Leases } from './record.ts'
import type { CandidateFailure } from './research-attempt.ts'
import type { RunConfig } from './run-config.ts'
import type { CheckpointKind } from './training-service.ts'

/** The record: open it with `openStore`, dispose of it when done. */
export interface Store extends AsyncDisposable {
  /** Address without secrets, for messages. */
  readonly label: string
  /** What opening it did. */
  readonly migrated: Migrated

  /** Intent before action: an experiment, its arms and all its runs. Doing it again changes nothing. */
  createExperiment(created: NewExperiment): Promise<void>
  /**
   * Exactly-once arrival of numbered items: what was acknowledged before is skipped, a gap is refused. `fromSeq` is the number of the
   * first item among all items that its sender put into the stream; the `seq` inside an event counts events alone. Under a lease that
   * was lost, nothing is written (STORE_CONFLICT).
   */
  push(batch: { stream: string; fromSeq: number; items: readonly Item[] }, under?: Lease): Promise<Ack>
  /** Appends events that follow event `expectedSeq`; a conflicting writer is an error, a repeated append is not. */
  append(
    stream: string,
    expectedSeq: number,
    events: readonly (RunEvent | ExperimentEvent)[],
    under?: Lease,
  ): Promise<void>
  /** Number of the next item and of the next event of a stream. */
  cursor(stream: string): Promise<{ nextItem: number; nextEvent: number }>

  experiment(experimentId: string): Promise<ExperimentRow | undefined>
  /** By id, by name (the newest), or by an unambiguous beginning of an id; STORE_MISSING otherwise. */
  findExperiment(reference: string): Promise<ExperimentRow>
  experiments(query: ExperimentQuery): Promise<ExperimentRow[]>
  runs(experimentId: string): Promise<RunRow[]>
  run(runId: string): Promise<RunRow | undefined>
  /** Completed runs of any experiment that have one of these configurations, the newest first. */
  completedRuns(configHashes: readonly string[]): Promise<RunRow[]>
  /** By id, by `experiment/run`, by a name that only one run has, or by an unambiguous beginning of an id. */
  findRun(reference: string): Promise<RunRow>
  evals(runId: string): Promise<EvalRow[]>
  /** Those that still exist, by step. */
  checkpoints(runId: string): Promise<CheckpointRow[]>
  /** Runs that saved weights under an address, or one that begins with it; those that were deleted since are among them. */
  runsWithWeights(address: string): Promise<string[]>
  artifacts(runId: string): Promise<Artifact[]>
  keepArtifact(runId: string, artifact: Artifact): Promise<void>
  events(query: {
    stream: string
    afterSeq: number
    limit: number
    /** Of these types alone. */
    types?: readonly (RunEvent | ExperimentEvent)['type'][] | undefined
  }): Promise<(RunEvent | ExperimentEvent)[]>
  /** A metric thinned to at most `maxPoints` buckets; peaks survive as min and max. */
  curve(query: { runId: string; key: string; maxPoints: number }): Promise<CurvePoint[]>
  metricKeys(runId: string): Promise<string[]>

  readonly verdicts: Verdicts
  readonly leases: Leases
  jobs(options: JobOptions): DurableJobs

  /** Drops what the record no longer needs: log lines of experiments and jobs that ended before `before`. */
  collect(options: { before: string }): Promise<Collected>
  usage(): Promise<StoreUsage>
  /** A consistent copy while others write: a file that `openStore` opens. Returns its path. */
  backup(file: string): Promise<string>
  /** Gives freed space back to the disk. */
  compact(): Promise<void>
  /**
   * Everything that must be equal between an interrupted and an uninterrupted execution, as JSON: no times, attempts, costs or
   * ids. `contentOf` gives the content hash of a checkpoint, by its reference.
   */
  canonicalRecord(
    experimentId: string,
    options?: { contentOf?: ((ref: string) => Promise<string>) | undefined },
  ): Promise<unknown>
}

/** What opening a record did. */
export interface Migrated {
  readonly from: number
  readonly to: number
  /** Where the record is kept as it was; absent when it was new or current. */
  readonly backup?: string | undefined
}

export interface NewExperiment {
  readonly experimentId: string
  readonly at: string
  readonly plan: RecordedPlan
  /** In the order of the plan. */
  readonly runIds: readonly string[]
  /** Versions and machine that it is started with. */
  readonly provenance: Readonly<Record<string, unknown>>
}

/** Without `text` newest first, else those whose name, hypothesis, tags or conclusions hold all its words, best first. */
export interface ExperimentQuery {
  readonly text?: string | undefined
  readonly limit: number
  readonly configHash?: string | undefined
  readonly statuses?: readonly RunStatus[] | undefined
}

export interface ExperimentRow {
  id: string
  name: string
  createdAt: string
  finishedAt?: string | undefined
  status: RunStatus
  hypothesis?: string | undefined
  configHash: string
  /** Parsed when it is first read: a list of experiments rarely needs it. */
  readonly plan: RecordedPlan
  objective?: ResolvedObjective | undefined
  parentId?: string | undefined
  tags: string[]
  verdict?: Verdict | undefined
  conclusion?: string | undefined
  /** The numbers behind the conclusion, as they were given. */
  evidence?: unknown
  /** What authors added. */
  words: { at: string; author: string; text: string }[]
  bestArm?: string | undefined
  costUsd?: number | undefined
  wallS?: number | undefined
  provenance: unknown
}

/** A run of the record, by what it does. What its kind holds is parsed when it is first read. */
export type RunRow = TrainingRunRow | CandidateRunRow | JobRunRow

/** A run of an experiment file. */
export interface TrainingRunRow extends RunColumns {
  readonly kind: 'training'
  readonly config: RunConfig
}

/** A run of a candidate of research. */
export interface CandidateRunRow extends RunColumns {
  readonly kind: 'candidate'
  readonly candidate: Candidate
  /** Why it has no score. */
  failure?: CandidateFailure | undefined
}

/** A command on a compute provider. */
export interface JobRunRow extends RunColumns {
  readonly kind: 'job'
  readonly job: Job
}

/** What runs of all kinds have. */
interface RunColumns extends RunNotes {
  id: string
  experimentId: string
  arm: string
  name: string
  seed: number
  stage?: number | undefined
  afterRun?: string | undefined
  configHash: string
  status: RunStatus
  attempt: number
  engineId?: string | undefined
  codeHash?: string | undefined
  dataHash?: string | undefined
  nRows?: number | undefined
  numSteps?: number | undefined
  bestStep?: number | undefined
  metrics: Metrics
  /** Of a candidate: its failure as documents name it. */
  error?: ErrorRecord | undefined
  costUsd?: number | undefined
  tokens?: number | undefined
  wallS?: number | undefined
  startedAt?: string | undefined
  finishedAt?: string | undefined
  /** Why its numbers no longer count. */
  invalid?: string | undefined
}

/** Research iterations and imports: what a run was derived from, how, and whether it was kept. */
export interface RunNotes {
  parentRun?: string | undefined
  diff?: string | undefined
  category?: string | undefined
  mode?: string | undefined
  kept?: boolean | undefined
  description?: string | undefined
  /** A score that the run reported of itself; never counts. */
  claimed?: Metrics | undefined
}

export interface EvalRow {
  benchmark: string
  /** Absent: made after training. */
  step?: number | undefined
  split: 'val' | 'test'
  metrics: Metrics
  bounds?: Bounds | undefined
  nTasks: number
  nInfraFailed: number
  scorerHash: string
  /** By task, then sample; null where infrastructure failed. */
  rewards?: Record<string, (number | null)[]> | undefined
  /** What each task adds to metrics that rewards alone do not give; absent in older records. */
  byTask?: TaskScores | undefined
  /** What metrics can be, where their plugins say so. */
  ranges?: MetricRanges | undefined
  /** Metrics whose intervals are not calibrated, and the class that is too rare. */
  thin?: ThinClasses | undefined
  /** Of the metrics that give one. */
  tables?: MetricTables | undefined
  /** Blob of the answers that were scored. */
  predictions?: string | undefined
  error?: ErrorRecord | undefined
}

export interface CheckpointRow {
  step: number
  kind: CheckpointKind
  ref: string
  final: boolean
}

export interface CurvePoint {
  /** First step in the bucket. */
  step: number
  min: number
  max: number
  mean: number
}

/** What people and programs say of finished work. */
export interface Verdicts {
  /** The numbers behind a conclusion, which time and cost are no part of, and what the experiment took. */
  evidence(
    experimentId: string,
    evidence: unknown,
    took: { costUsd?: number | undefined; wallS: number },
  ): Promise<void>
  /** An author's word beside the computed conclusion, which stays. */
  conclude(experimentId: string, author: string, text: string): Promise<void>
  /** Takes a run out of every later comparison; its data stays. */
  invalidate(runId: string, reason: string): Promise<void>
  /** Adds to what is noted of a run; keys that are left out stay as they are. */
  note(runId: string, notes: RunNotes): Promise<void>
}

/** Rows that were dropped. */
export interface Collected {
  readonly events: number
  readonly checkpoints: number
  readonly jobs: number
}

export interface StoreUsage {
  readonly bytes: number
  readonly rows: Readonly<Record<string, number>>
}
