// The wire of the training protocol: what client and server say to each other, as JSON and as protobuf. Facts and formats
// are those of the official SDK, 0.16 to 0.36.
export { CreateCustomLossRequest, CreateCustomLossResponse } from './custom-loss-messages.ts'
export {
  decodeForwardBackwardOutput,
  encodeForwardBackwardOutput,
  ForwardBackwardOutput,
} from './forward-backward-output.ts'
export {
  Datum,
  decodeForwardBackwardRequest,
  encodeForwardBackwardRequest,
  ForwardBackwardInput,
  ForwardBackwardRequest,
  ForwardRequest,
  LossFnConfig,
} from './forward-backward-request.ts'
export { Chunk, ModelInput, tokensOf } from './model-input.ts'
export {
  AdamParams,
  CreateModelRequest,
  CreateModelResponse,
  GetInfoResponse,
  LoadWeightsRequest,
  LoadWeightsResponse,
  LoraConfig,
  ModelRequest,
  OptimizerConfig,
  OptimStepRequest,
  OptimStepResponse,
  SaveWeightsForSamplerRequest,
  SaveWeightsForSamplerResponse,
  SaveWeightsRequest,
  SaveWeightsResponse,
  UnloadModelResponse,
  WeightsInfoRequest,
  WeightsInfoResponse,
} from './model-messages.ts'
export { NumberArray } from './number-array.ts'
export {
  CancelFutureRequest,
  CompleteMetadata,
  ErrorCategory,
  FutureCompletion,
  QueueState,
  RequestFailedResponse,
  RetrieveFutureRequest,
  RetrieveFuturesRequest,
  RetrieveFuturesResponse,
  TryAgainResponse,
  UntypedFuture,
} from './promise-messages.ts'
export {
  AccessScope,
  ArchiveUrlResponse,
  AuditResponse,
  BillingUsageResponse,
  Checkpoint,
  CheckpointsResponse,
  Cursor,
  TraceExportResponse,
  TrainingRun,
  TrainingRunsResponse,
  TtlRequest,
} from './run-messages.ts'
export { SampleRequest, type SampleRequestInput, SamplingParams } from './sample-request.ts'
export {
  decodeSampleResponse,
  encodeSampleResponse,
  noLogprob,
  type SampledSequence,
  type SampleResponse,
  SampleResponseJson,
  StopReason,
  sampleFromJson,
  sampleToJson,
  type TopK,
} from './sample-response.ts'
export {
  AuthTokenResponse,
  ClientConfigRequest,
  ClientConfigResponse,
  ClientDynamicConfigResponse,
  CreateSamplingSessionRequest,
  CreateSamplingSessionResponse,
  CreateSessionRequest,
  CreateSessionResponse,
  HealthResponse,
  JoinSamplingSessionRequest,
  JoinSamplingSessionResponse,
  ListSessionsResponse,
  SamplerResponse,
  ServerCapabilities,
  SessionFinishRequest,
  SessionHeartbeatRequest,
  SessionHeartbeatResponse,
  SessionProjectRequest,
  SessionResponse,
  SupportedModel,
  TelemetryRequest,
  TelemetryResponse,
  UserMetadata,
} from './session-messages.ts'
export { denseTensor, sizeOfShape, TensorData } from './tensor-data.ts'
export {
  type CheckpointFolder,
  checkpointFolders,
  checkpointId,
  formatTinkerPath,
  parseTinkerPath,
  type TinkerPath,
} from './tinker-path.ts'
export { WireError } from './wire-error.ts'
