// Results as clients read them: JSON for old ones, protobuf for new ones, made when first asked for. The wire carries
// log-probabilities as float32.
import type { Datum, FwdBwd, Metrics, NamedLoss, Sample, Tensor, TopKLogprobs } from '../../contracts/index.ts'
import * as tinker from '../../contracts/tinker/index.ts'
import { checkedData, type DataLimits, lossFunction } from '../../engine/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { type Loc, unprocessable, wordsOf } from '../http/http-error.ts'
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

/** `promptLogprobsLast`: log-probabilities of the last so many prompt tokens alone. */
export function sampleAnswer(samples: readonly Sample[], promptLogprobsLast: number | undefined): Answer {
  const [first] = samples
  const promptLogprobs = first?.promptLogprobs === undefined ? undefined : Float32Array.from(first.promptLogprobs)
  if (promptLogprobsLast !== undefined) promptLogprobs?.fill(Number.NaN, 0, -promptLogprobsLast)
  const response: tinker.SampleResponse = {
    sequences: samples.map(({ tokens, logprobs, stopReason }) => ({
      tokens,
      logprobs: Float32Array.from(logprobs),
      stop_reason: stopReason,
    })),
    prompt_logprobs: promptLogprobs,
    topk_prompt_logprobs: first?.topKPromptLogprobs === undefined ? undefined : topK(first.topKPromptLogprobs),
    prompt_cache_hit_tokens: 0,
  }
  return {
    sizeBytes: samples.reduce((size, { tokens }) => size + 8 * tokens.length + 64, 8 * (promptLogprobs?.length ?? 0)),
    json: () => {
      const json = tinker.sampleToJson(response)
      const finite = (values: tinker.NumberArray | null | undefined) => (values == null ? values : finiteList(values))
      return { ...json, sequences: json.sequences.map((each) => ({ ...each, logprobs: finite(each.logprobs) })) }
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

// Training data as it comes over the wire, turned into what an engine takes. Everything is checked here, while the client still
// waits for the answer to its request: a mistake is reported with its place, and at once.
/** The data and loss of a request; `loc` is where they stand in it. */
export function readPass(input: tinker.ForwardBackwardInput, limits: DataLimits, loc: Loc) {
  const loss = at([...loc, 'loss_fn'], () => readLoss(input))
  const checks = at([...loc, 'loss_fn'], () => lossFunction(loss))
  if (input.data.length === 0) throw unprocessable([...loc, 'data'], 'there must be at least one datum')
  const data = input.data.map((each, index) =>
    at([...loc, 'data', index], () => {
      const datum = readDatum(each)
      checkedData([datum], checks, limits)
      return datum
    }),
  )
  return { data, loss }
}

function readLoss({ loss_fn: name, loss_fn_config: config }: tinker.ForwardBackwardInput): NamedLoss {
  if (config == null) return { name }
  const settings: Record<string, number> = {}
  for (const [key, value] of Object.entries(config)) {
    if (typeof value !== 'number') throw new tinker.WireError(key, 'the setting of a loss is a number')
    settings[key] = value
  }
  return { name, config: settings }
}

function readDatum({ model_input, loss_fn_inputs }: tinker.Datum): Datum {
  const inputs = Object.entries(loss_fn_inputs).map(([name, tensor]) => [name, readTensor(tensor, name)])
  return { tokens: tinker.tokensOf(model_input), lossInputs: Object.fromEntries(inputs) }
}

function readTensor(tensor: tinker.TensorData, name: string): Tensor {
  const { data, shape } = tinker.denseTensor(tensor, `loss_fn_inputs.${name}`)
  if (tensor.dtype === 'float32') return { data: data instanceof Float32Array ? data : Float32Array.from(data), shape }
  // Whole numbers that do not fit are kept as they are, for the check to name.
  const whole = data instanceof Int32Array ? data : Int32Array.from(data)
  return {
    data: data === whole || whole.every((value, index) => value === data[index]) ? whole : Float64Array.from(data),
    shape,
  }
}

/** Runs a check; what it finds is reported with the place. */
export function at<T>(loc: Loc, check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (error instanceof tinker.WireError) throw unprocessable([...loc, ...places(error.at)], error.message)
    // The one datum that was checked is number 0 to its checker; its real number is in `loc`.
    if (EvsysError.is(error)) throw unprocessable(loc, wordsOf(error).replace(/^datum 0:? /, ''))
    throw error
  }
}

// `model_input.chunks[2]` as the steps that lead there.
function places(path: string): (string | number)[] {
  return path.split(/[.[\]]+/).flatMap((step) => (step === '' ? [] : [/^\d+$/.test(step) ? Number(step) : step]))
}
