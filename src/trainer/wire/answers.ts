// Results as clients read them: JSON for old ones, protobuf for new ones, made when first asked for. The wire carries
// log-probabilities as float32.
import type { FwdBwd, Metrics, Sample, TopKLogprobs } from '../../contracts/index.ts'
import * as tinker from '../../contracts/tinker/index.ts'
import type { Answer } from '../state/futures.ts'

/** A result that is plain JSON. It must have no key `error`, by which clients know a failure. */
export function plainAnswer(body: Readonly<Record<string, unknown>>): Answer {
  return { json: () => body, sizeBytes: 256 }
}

export function metricsAnswer(metrics: Metrics): Answer {
  return plainAnswer({ type: 'optim_step', metrics: finiteMetrics(metrics) })
}

export function passAnswer({ outputs, metrics }: FwdBwd): Answer {
  const records = outputs.map((output) =>
    Object.fromEntries(
      Object.entries(output).map(([name, { data, shape }]) => [
        name,
        { data: Float32Array.from(data), dtype: 'float32' as const, shape: [...shape] },
      ]),
    ),
  )
  const body = { loss_fn_output_type: 'ArrayRecord', loss_fn_outputs: records }
  return {
    sizeBytes: records.reduce(
      (size, record) => Object.values(record).reduce((sum, { data }) => sum + 4 * data.length + 64, size),
      256,
    ),
    json: () => ({
      ...body,
      loss_fn_outputs: records.map((record) =>
        Object.fromEntries(
          Object.entries(record).map(([name, tensor]) => [name, { ...tensor, data: finiteList(tensor.data) }]),
        ),
      ),
      metrics: finiteMetrics(metrics),
    }),
    protobuf: () => tinker.encodeForwardBackwardOutput({ ...body, metrics }),
  }
}

export type SampleAnswerOptions = {
  /** Log-probabilities of the last so many prompt tokens alone. */
  promptLogprobsLast?: number | undefined
}

export function sampleAnswer(samples: readonly Sample[], { promptLogprobsLast }: SampleAnswerOptions = {}): Answer {
  const [first] = samples
  const promptLogprobs = first?.promptLogprobs === undefined ? undefined : Float32Array.from(first.promptLogprobs)
  if (promptLogprobsLast !== undefined) promptLogprobs?.fill(Number.NaN, 0, -promptLogprobsLast)
  const response: tinker.SampleResponse = {
    sequences: samples.map(({ tokens, logprobs, stopReason }) => ({
      tokens,
      logprobs: Float32Array.from(logprobs),
      stop_reason: stopReason,
    })),
    ...(promptLogprobs === undefined ? {} : { prompt_logprobs: promptLogprobs }),
    ...(first?.topKPromptLogprobs === undefined ? {} : { topk_prompt_logprobs: topK(first.topKPromptLogprobs) }),
    prompt_cache_hit_tokens: 0,
  }
  return {
    sizeBytes: samples.reduce((size, { tokens }) => size + 8 * tokens.length + 64, 8 * (promptLogprobs?.length ?? 0)),
    json: () => {
      const json = tinker.sampleToJson(response)
      const sequences = json.sequences.map((each) => ({
        ...each,
        ...(each.logprobs == null ? {} : { logprobs: finiteList(each.logprobs) }),
      }))
      return { ...json, sequences }
    },
    protobuf: () => tinker.encodeSampleResponse(response),
  }
}

function topK({ k, tokens, logprobs }: TopKLogprobs): tinker.TopK {
  return {
    k,
    length: k === 0 ? 0 : tokens.length / k,
    tokens: tokens.map((token) => Math.max(token, 0)),
    logprobs: Float32Array.from(logprobs, (value) => (Number.isNaN(value) ? tinker.noLogprob : value)),
  }
}

// JSON has no infinity; what is impossible becomes the least likely number that float32 knows.
const lowest = -3.4028234663852886e38

function finiteList(values: tinker.NumberArray): number[] {
  return Array.from(values, (value) => (Number.isFinite(value) ? value : lowest))
}

// A metric that is no number has no form in JSON, and readers refuse null.
function finiteMetrics(metrics: Metrics): Metrics {
  return Object.fromEntries(Object.entries(metrics).filter(([, value]) => Number.isFinite(value)))
}
