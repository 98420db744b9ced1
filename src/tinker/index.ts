// Client of the training protocol: `evsys/tinker`.

export type { OnTinkerEvent, TinkerEvent } from './client-events.ts'
export {
  add,
  clamp,
  concat,
  defineLoss,
  div,
  exp,
  gather,
  type LossBatch,
  type LossResult,
  log,
  logsigmoid,
  max,
  mean,
  min,
  mul,
  neg,
  type Operand,
  sigmoid,
  square,
  stopGradient,
  sub,
  sum,
  Value,
  where,
} from './losses/operators.ts'
export { dpoLoss, ipoLoss, type KtoOptions, ktoLoss, referenceInput } from './losses/preference-losses.ts'
export { type ModelSpec, type Preset, type PresetName, presets } from './presets.ts'
export type { Archive, Page, RestClient, Scope } from './rest-client.ts'
export type { SampleCall, Sampler } from './sampler.ts'
export { isServiceError, ServiceError, type ServiceErrorKind } from './service-error.ts'
export type { CallOptions, Submitted, TinkerFuture } from './session.ts'
export { addressFrom, createTinkerClient, type TinkerClient, type TinkerClientOptions } from './tinker-client.ts'
export type { SaveCallOptions, TrainingModel } from './training-model.ts'
