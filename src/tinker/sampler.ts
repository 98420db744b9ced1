// Completions from one set of weights: a base model, a checkpoint or a snapshot. Later training does not change them.
import type { Sample, SampleReq } from '../contracts/index.ts'
import * as tinker from '../contracts/tinker/index.ts'
import { ByteBudget } from './byte-budget.ts'
import { errorOf, parseBody } from './caller.ts'
import { expectSample } from './expected-results.ts'
import { SamplingGate } from './sampling-gate.ts'
import { ServiceError } from './service-error.ts'
import { type CallOptions, callSignal, retrieve, type Session } from './session.ts'
import { type Submitted, startFuture, type TinkerFuture } from './tinker-future.ts'
import { toSamples } from './to-samples.ts'
import { unlessAborted } from './unless-aborted.ts'

/** A prompt and how its completions are drawn. */
export type SampleCall = Omit<SampleReq, 'model'>

const path = '/api/v1/asample'

export class Sampler {
  readonly samplingSessionId: string
  readonly #session: Session
  readonly #gate: SamplingGate
  readonly #requests: ByteBudget
  #next = 0

  constructor(samplingSessionId: string, session: Session) {
    this.samplingSessionId = samplingSessionId
    this.#session = session
    this.#requests = new ByteBudget(session.flags.sample_max_concurrent_requests)
    this.#gate = new SamplingGate({
      clock: session.clock,
      bytes: session.promptBytes,
      onBackoff: (waitMs) => session.onEvent({ type: 'backoff', samplingSession: samplingSessionId, waitMs }),
    })
  }

  /** Draws completions. Requests of one sampler have no order among each other. */
  sample(request: SampleCall, options: CallOptions = {}): TinkerFuture<Sample[]> {
    return startFuture(async (accepted) => {
      checkRequest(request)
      const linked = callSignal(this.#session, options)
      let release = () => {}
      try {
        release = await this.#requests.acquire(1, linked.signal)
        return await this.#draw(request, linked.signal, accepted)
      } finally {
        release()
        linked.release()
      }
    })
  }

  /** Log-probability of each token given those before it; NaN for the first. */
  async logprobs(tokens: Int32Array, options: CallOptions = {}): Promise<Float64Array> {
    const request = { prompt: tokens, numSamples: 1, maxTokens: 1, temperature: 1, seed: 0, promptLogprobs: true }
    const [sample] = await this.sample(request, options)
    if (sample?.promptLogprobs !== undefined) return sample.promptLogprobs
    throw new ServiceError('protocol', `${path}: the answer has no log-probabilities of the prompt`)
  }

  /** What stands behind it. */
  info(): Promise<tinker.SamplerResponse> {
    const call = { method: 'GET', path: `/api/v1/samplers/${this.samplingSessionId}` } as const
    return this.#session.caller.json(call, tinker.SamplerResponse)
  }

  async #draw(request: SampleCall, signal: AbortSignal, accepted: (submitted: Submitted) => void): Promise<Sample[]> {
    const { clock, flags } = this.#session
    for (;;) {
      const seq = this.#next++
      const sentMs = clock.now()
      const { request_id } = await this.#submit(request, seq, signal)
      accepted({ requestIds: [request_id], seqs: [seq] })
      try {
        const roundTripMs = clock.now() - sentMs
        const answer = retrieve(this.#session, request_id, expectSample, { signal, roundTripMs })
        return toSamples(await unlessAborted(answer, signal), request, request_id)
      } catch (error) {
        if (signal.aborted) this.#cancel(request_id)
        // A forgotten promise is asked for anew, under a new number: the old one belongs to what was forgotten.
        const isLost = error instanceof ServiceError && error.kind === 'lost'
        if (!isLost || flags.sample_no_retries) throw error
        this.#session.onEvent({ type: 'retry', path, waitMs: 0, message: error.message })
      }
    }
  }

  async #submit(request: SampleCall, seq: number, signal: AbortSignal): Promise<tinker.UntypedFuture> {
    const promptBytes = 10 * request.prompt.length
    const call = {
      method: 'POST',
      path,
      json: toWire(request, this.samplingSessionId, seq),
      headers: { 'x-tinker-sampling-backpressure': '1' },
      accept: [429],
      signal,
    } as const
    for (;;) {
      const answer = await this.#gate.pass(promptBytes, signal, () => this.#session.caller.answer(call))
      if (answer.status !== 429) return parseBody(path, answer.bytes, tinker.UntypedFuture)
      if (this.#session.flags.sample_no_retries) throw errorOf(path, answer)
      this.#gate.backOff(promptBytes)
    }
  }

  // Nobody waits any more. Where the service offers it, the work is stopped; otherwise it ends by itself.
  #cancel(requestId: string): void {
    if (!this.#session.cancels() || this.#session.signal.aborted) return
    const call = {
      method: 'POST',
      path: '/api/v1/cancel_future',
      json: { request_id: requestId },
      retry: 'off',
    } as const
    this.#session.caller.done(call).catch(() => {}) // the work ends by itself later
  }
}

function toWire(request: SampleCall, samplingSessionId: string, seq: number): tinker.SampleRequestInput {
  return {
    sampling_session_id: samplingSessionId,
    seq_id: seq,
    num_samples: request.numSamples,
    prompt: { chunks: [{ type: 'encoded_text', tokens: Array.from(request.prompt) }] },
    sampling_params: {
      max_tokens: request.maxTokens,
      temperature: request.temperature,
      top_k: request.topK ?? -1,
      top_p: request.topP ?? 1,
      seed: request.seed,
      ...(request.stop === undefined ? {} : { stop: stopList(request.stop) }),
    },
    prompt_logprobs: request.promptLogprobs ?? false,
    topk_prompt_logprobs: request.topKPromptLogprobs ?? 0,
    type: 'sample',
  }
}

function stopList(stop: NonNullable<SampleReq['stop']>): string[] | number[] {
  const texts = stop.filter((each) => typeof each === 'string')
  const tokens = stop.filter((each) => typeof each === 'number')
  return texts.length > 0 ? texts : tokens
}

function checkRequest({ prompt, numSamples, maxTokens, temperature, stop }: SampleCall): void {
  const mixed = stop?.some((each) => typeof each !== typeof stop[0]) ?? false
  const fault =
    prompt.length === 0
      ? 'the prompt has no tokens'
      : prompt.some((token) => token < 0)
        ? `prompt[${prompt.findIndex((token) => token < 0)}] is no token id`
        : !(Number.isInteger(numSamples) && numSamples >= 1)
          ? `numSamples is ${numSamples}`
          : !(Number.isInteger(maxTokens) && maxTokens >= 0)
            ? `maxTokens is ${maxTokens}`
            : !(temperature >= 0 && Number.isFinite(temperature))
              ? `temperature is ${temperature}`
              : mixed
                ? 'stop mixes texts and token ids'
                : undefined
  if (fault !== undefined) throw new ServiceError('invalid', `sample: ${fault}`, { fix: 'correct the request.' })
}
