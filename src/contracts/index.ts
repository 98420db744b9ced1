// What other rooms, plugins and the dashboard may use of the contracts.
export { BenchmarkEntry, ChatTemplate, Split } from './benchmark-entry.ts'
export type { Engine, EngineId, EngineOp, EngineResult } from './engine.ts'
export { ErrorCode, ErrorRecord, ErrorReport, Location } from './error.ts'
export {
  CheckpointKind,
  ExperimentEvent,
  LogLevel,
  Metrics,
  RunEvent,
  RunStatus,
  Verdict,
} from './events.ts'
export type {
  ComputeProvider,
  ExecResult,
  ExecSpec,
  JobSpec,
  JobState,
  JobStatus,
  Level,
  PolicyRef,
  PredictionsRef,
  Rollout,
  Sandbox,
  ScoreRecord,
  Scorer,
  SeedPath,
  Trajectory,
  Turn,
  Usage,
} from './execution.ts'
export {
  Axes,
  AxisValue,
  Compute,
  Continual,
  Experiment,
  ExperimentFile,
  Matrix,
  NameTemplate,
  Stage,
  Stages,
} from './experiment-file.ts'
export { ArmRef, Claim, Direction, Metadata, MetricRef, Objective } from './metadata.ts'
export { Name } from './name.ts'
export { Notice, Plan, PlannedArm, PlannedRun, ResolvedObjective, ValidateReport } from './plan.ts'
export type { Context, Needs, Plugin, PluginCard, Random } from './plugin.ts'
export { Kind, Params, PluginSpec, PluginType } from './plugin-spec.ts'
export type { AnyPlugin, PluginTypes } from './plugins.ts'
export { Budget, Duration, durationSeconds } from './quantity.ts'
export type { Ack, Blobs, Ingest, Item, PointBatch, Queries, Query, Result, Sha256, Steps, Store } from './record.ts'
export { type CheckpointView, type EvalView, initialRunState, type RunState, reduceRun } from './reduce-run.ts'
export type {
  Attempt,
  Brief,
  Deployer,
  Deployment,
  KeepRule,
  Proposal,
  Proposer,
  Provider,
  Strategy,
  Trace,
  TraceSource,
} from './research-plugins.ts'
export { ArmResult, Artifact, ExperimentResult, HistoryEntry, ImportResult, RunResult, Score } from './results.ts'
export {
  ChatMessage,
  ChatMessagesRow,
  detectFormat,
  HarborTask,
  PromptExample,
  type Row,
  RowFormat,
  type RowOf,
  ToolCall,
  VerifierPayload,
} from './rows.ts'
export { DataConfig, ModelConfig, RunConfig, Seed } from './run-config.ts'
export type {
  Agent,
  Environment,
  Generated,
  GenerateRequest,
  InferenceClient,
  Metric,
  OpenEnvironment,
  OpenInferenceClient,
  TaskRewards,
  Verification,
  Verifier,
} from './scoring-plugins.ts'
export { Resources, Sweeps, TaskFile } from './task-file.ts'
export type {
  Algorithm,
  Backend,
  Batch,
  Callback,
  CallbackHooks,
  CallbackScope,
  DataSource,
  DataStore,
  LogStore,
  OpenBackend,
  OpenDataStore,
  OpenLogStore,
  OpenRenderer,
  Rendered,
  Renderer,
  StepAlgorithm,
  StepContext,
  StepScope,
  Tokenizer,
  TrainContext,
  Transform,
  WholeRunAlgorithm,
} from './training-plugins.ts'
export type {
  Adam,
  Datum,
  Future,
  FwdBwd,
  Loss,
  ModelId,
  Ref,
  Sample,
  SampleReq,
  Tensor,
  TrainingService,
} from './training-service.ts'
