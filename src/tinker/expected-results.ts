// Results by the name they have on the wire, and how each is read.
import type * as z from 'zod'
import * as tinker from '../contracts/tinker/index.ts'
import { parseValue } from './caller.ts'
import type { Expected } from './retrieve-future.ts'

export function expectPass(forwardOnly: boolean): Expected<tinker.ForwardBackwardOutput> {
  return {
    ...expectJson(forwardOnly ? 'Forward' : 'ForwardBackward', tinker.ForwardBackwardOutput),
    protobuf: tinker.decodeForwardBackwardOutput,
  }
}

export const expectSample: Expected<tinker.SampleResponse> = {
  requestType: 'Sample',
  json: (body) => tinker.sampleFromJson(parseValue('Sample', body, tinker.SampleResponseJson)),
  protobuf: tinker.decodeSampleResponse,
}

export function expectJson<S extends z.ZodType>(requestType: string, schema: S): Expected<z.output<S>> {
  return { requestType, json: (body) => parseValue(requestType, body, schema) }
}
