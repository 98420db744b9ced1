// The wire of the training protocol: what client and server say to each other, as JSON and as protobuf. Facts and formats
// are those of the official SDK, 0.16 to 0.36. Files that hold messages alone are exported as a whole.

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
export * from './model-messages.ts'
export { WireError } from './protobuf.ts'
export * from './run-messages.ts'
export {
  decodeSampleResponse,
  encodeSampleResponse,
  noLogprob,
  type SampledSequence,
  SampleRequest,
  type SampleRequestInput,
  type SampleResponse,
  SampleResponseJson,
  SamplingParams,
  StopReason,
  sampleFromJson,
  sampleToJson,
  type TopK,
} from './sampling.ts'
export * from './session-messages.ts'
export { denseTensor, NumberArray, sizeOfShape, TensorData } from './tensor-data.ts'
