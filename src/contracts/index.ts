/// <reference lib="esnext.disposable" preserve="true" />
// What other rooms, plugins and the dashboard may use of the contracts.
// The line above gives AsyncDisposable to importers whose own `lib` lacks it.
export { EnvironmentCall, EnvironmentReply, LeadOrder, LedRecord } from './agent-exchange.ts'
export { pythonClass } from './agent-path.ts'
export { armReference, referencedArms } from './arm-reference.ts'
export {
  type AtifContent,
  type AtifFinalMetrics,
  AtifMetrics,
  AtifStep,
  AtifTrajectory,
  AtifVersion,
} from './atif.ts'
export { Benchmark, BenchmarkEntry, ChatTemplate, Split } from './benchmark-entry.ts'
export type { DataSource, DataStore, OpenDataStore, SourceContext, Transform } from './data-plugins.ts'
export { DataPreview, PlacedRow, RunDataPreview, TokenExample } from './data-preview.ts'
export type { ClaimedJob, DurableJobState, DurableJobs, JobOptions, WorkOutcome } from './durable-jobs.ts'
export type { Engine, EngineId, EngineOp, EngineResult, LoraSpec } from './engine.ts'
export { ErrorCode, ErrorRecord, ErrorReport, Location, RolloutError } from './error.ts'
export {
  BaselineScore,
  Bounds,
  CheckpointKind,
  ExperimentEvent,
  Leak,
  LogLevel,
  Metrics,
  RunEvent,
  RunStatus,
  Verdict,
} from './events.ts'
export { ArmEvidence, Evidence, Forgetting, PairEvidence } from './evidence.ts'
export {
  type ComputeProvider,
  type ExecResult,
  type ExecSpec,
  type JobSpec,
  type JobState,
  type JobStatus,
  Level,
  type Mount,
  type PolicyRef,
  type PredictionsRef,
  type Rollout,
  type Sampling,
  type Sandbox,
  type SandboxProcess,
  type ScoreRecord,
  type Scorer,
  type SeedPath,
  type Trajectory,
  type Turn,
  type TurnTokens,
  type Usage,
} from './execution.ts'
export {
  Axes,
  AxisValue,
  Compute,
  Continual,
  Experiment,
  ExperimentFile,
  LegacyEval,
  LegacyValidation,
  Matrix,
  NameTemplate,
  Stage,
  Stages,
} from './experiment-file.ts'
export { GuardAction, GuardReason, GuardTrip, RunTrip, tripText } from './guard-trip.ts'
export { JudgeReport } from './judge-report.ts'
export type { Lease, Leases } from './leases.ts'
export { ArmRef, Claim, Direction, Metadata, MetricRef, Objective } from './metadata.ts'
export { Name } from './name.ts'
export { Notice, Plan, PlannedArm, PlannedRun, ResolvedClaim, ResolvedObjective, ValidateReport } from './plan.ts'
export { type Context, Needs, type Plugin, PluginCard, type Random } from './plugin.ts'
export { Kind, Params, PluginSpec, PluginType } from './plugin-spec.ts'
export type { AnyPlugin, PluginTypes } from './plugins.ts'
export { PolicyAnswer, PolicyQuestion } from './policy-exchange.ts'
export { Budget, Duration, durationSeconds } from './quantity.ts'
export {
  type Ack,
  type Blobs,
  type Ingest,
  Item,
  PointBatch,
  Sha256,
  type Steps,
} from './record.ts'
export { type CheckpointView, type EvalView, initialRunState, type RunState, reduceRun } from './reduce-run.ts'
export {
  Attempt,
  AttemptFailure,
  AttemptVerdict,
  FailureClass,
  MeasuredGain,
  SeedScore,
} from './research/attempt.ts'
export { Change, Idea, IdeaCategory, KnobSpec, Knobs, KnobValue, SearchMode } from './research/idea.ts'
export {
  CallUsage,
  EndReason,
  FileChanges,
  PlannedLook,
  RecordedOutcome,
  ReportedGainRecord,
  ResearchEntry,
  type ResearchEntryOf,
  RunPurpose,
  Steering,
  TurnedDown,
} from './research/journal.ts'
export { reduceResearch } from './research/reduce-research.ts'
export type {
  Brief,
  CandidateIdea,
  KeepRule,
  Proposal,
  Proposer,
  Race,
  RaceStep,
  SearchRequest,
  SearchState,
  Strategy,
} from './research/research-plugins.ts'
export type {
  Accelerator,
  CandidateFiles,
  CurveSample,
  Executor,
  LookUpTable,
  MemoryEstimate,
  ResearchTask,
  RunOutcome,
  TaskProgram,
} from './research/research-task.ts'
export { ResearchBudget, SessionSettings } from './research/session-settings.ts'
export {
  type BegunWork,
  initialResearchState,
  type RecordedRunOf,
  type ResearchAttempt,
  type ResearchCall,
  type ResearchGauges,
  type ResearchSpend,
  type ResearchState,
} from './research/session-state.ts'
export {
  SecondaryMetric,
  TaskData,
  TaskDataSource,
  TaskLimits,
  TaskRuntime,
  TaskVariant,
} from './research/task-fields.ts'
export {
  ArmResult,
  Artifact,
  ExperimentResult,
  HistoryEntry,
  ImportResult,
  RunResult,
  Score,
  UsedEngine,
} from './results.ts'
export {
  ChatMessage,
  ChatMessagesRow,
  detectFormat,
  HarborTask,
  PreferencePair,
  PromptExample,
  type Row,
  RowFormat,
  type RowOf,
  ToolCall,
  VerifierPayload,
} from './rows.ts'
export { DataConfig, ModelConfig, RunConfig, Seed } from './run-config.ts'
export {
  type Agent,
  type Environment,
  type EnvironmentCommand,
  type Generated,
  type GenerateRequest,
  type InferenceClient,
  type Metric,
  type OpenEnvironment,
  type OpenInferenceClient,
  type TaskAnswers,
  type TaskFolder,
  type TaskRewards,
  TokenPrice,
  type ToolSpec,
  type Verification,
  type Verifier,
} from './scoring-plugins.ts'
export type { Deployer, Deployment, Provider, Trace, TraceSource } from './service-plugins.ts'
export type {
  CheckpointRow,
  Collected,
  CurvePoint,
  EvalRow,
  ExperimentQuery,
  ExperimentRow,
  Migrated,
  NewExperiment,
  RunNotes,
  RunRow,
  Store,
  StoreUsage,
  Verdicts,
} from './store.ts'
export { Resources, Sweeps, TaskFile } from './task-file.ts'
export { TeacherSpec, teachersOf } from './teacher-spec.ts'
export type { TokenSampler } from './token-sampler.ts'
export type {
  Algorithm,
  Backend,
  Batch,
  KeptPolicy,
  LaterStep,
  OpenBackend,
  OpenRenderer,
  OtherModels,
  PhaseSpec,
  PromptTrial,
  Rendered,
  Renderer,
  SetupContext,
  StepAlgorithm,
  StepContext,
  StepOutcome,
  Tokenizer,
  TrainContext,
  WholeRunAlgorithm,
} from './training-plugins.ts'
export type {
  Adam,
  CustomLoss,
  Datum,
  Future,
  FwdBwd,
  Loss,
  ModelId,
  NamedLoss,
  Ref,
  RefOf,
  Sample,
  SampleReq,
  SamplerRef,
  SaveOptions,
  StateRef,
  Stop,
  Tensor,
  TopKLogprobs,
  TrainingService,
  Weights,
} from './training-service.ts'
export type {
  Callback,
  CallbackHooks,
  CallbackScope,
  LogStore,
  OpenLogStore,
  StepScope,
} from './watching-plugins.ts'
export {
  FileStamp,
  FromWorker,
  Prediction,
  ResumePoint,
  RunAssignment,
  Scored,
  SealedBenchmark,
  SealedTask,
  ToWorker,
  WorkerStart,
} from './worker-protocol.ts'
