// Client of the training protocol: `evsys/tinker`.
export { defineLoss, type LossBatch, type LossResult } from './losses/define-loss.ts'
export {
  add,
  clamp,
  concat,
  div,
  exp,
  gather,
  log,
  logsigmoid,
  max,
  mean,
  min,
  mul,
  neg,
  sigmoid,
  square,
  stopGradient,
  sub,
  sum,
  where,
} from './losses/operators.ts'
export { dpoLoss, ipoLoss, type KtoOptions, ktoLoss, referenceInput } from './losses/preference-losses.ts'
export { type Operand, Value } from './losses/value.ts'
export type { ModelSpec } from './model-spec.ts'
export { type Preset, type PresetName, presets } from './presets.ts'
export type { Archive, Page, RestClient, Scope } from './rest-client.ts'
export type { SampleCall, Sampler } from './sampler.ts'
export { isServiceError, ServiceError, type ServiceErrorKind } from './service-error.ts'
export type { CallOptions } from './session.ts'
export { createTinkerClient, type TinkerClient, type TinkerClientOptions } from './tinker-client.ts'
export type { OnTinkerEvent, TinkerEvent } from './tinker-event.ts'
export type { Submitted, TinkerFuture } from './tinker-future.ts'
export type { SaveCallOptions, TrainingModel } from './training-model.ts'
