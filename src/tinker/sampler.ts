// Completions from one set of weights: a base model, a checkpoint or a snapshot. Later training does not change them.
import type { Sample, SampleReq, TopKLogprobs } from '../contracts/index.ts'
import * as tinker from '../contracts/tinker/index.ts'
import { type Clock, unlessAborted } from '../kernel/index.ts'
import { ByteBudget } from './byte-budget.ts'
import { errorOf, parseBody } from './caller.ts'
import { expectSample } from './retrieve-future.ts'
import { ServiceError } from './service-error.ts'
import {
  type CallOptions,
  callSignal,
  retrieve,
  type Session,
  type Submitted,
  startFuture,
  type TinkerFuture,
} from './session.ts'

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
        const answer = retrieve(this.#session, { requestId: request_id }, expectSample, { signal, roundTripMs })
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

  // No one waits any more. Where the service offers it, the work is stopped; otherwise it ends by itself.
  #cancel(requestId: string): void {
    if (!this.#session.cancels() || this.#session.signal.aborted) return
    const call = { method: 'POST', path: '/api/v1/cancel_future', json: { request_id: requestId } } as const
    this.#session.caller.done({ ...call, retry: 'off' }).catch(() => {}) // the work ends by itself later
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
      stop: request.stop === undefined ? undefined : stopList(request.stop),
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
  const negative = prompt.findIndex((token) => token < 0)
  const isCount = (value: number, least: number) => Number.isInteger(value) && value >= least
  const faults = [
    prompt.length === 0 && 'the prompt has no tokens',
    negative !== -1 && `prompt[${negative}] is no token id`,
    !isCount(numSamples, 1) && `numSamples is ${numSamples}`,
    !isCount(maxTokens, 0) && `maxTokens is ${maxTokens}`,
    !(temperature >= 0 && Number.isFinite(temperature)) && `temperature is ${temperature}`,
    stop?.some((each) => typeof each !== typeof stop[0]) && 'stop mixes texts and token ids',
  ]
  const fault = faults.find((each) => typeof each === 'string')
  if (fault !== undefined) throw new ServiceError('invalid', `sample: ${fault}`, { fix: 'correct the request.' })
}

// Completions of the wire as the training loop has them.
function toSamples(response: tinker.SampleResponse, request: SampleCall, requestId: string): Sample[] {
  const { sequences, prompt_logprobs, topk_prompt_logprobs } = response
  if (sequences.length !== request.numSamples) {
    const message = `${request.numSamples} samples were asked for, ${sequences.length} came back`
    throw new ServiceError('protocol', message, { requestId })
  }
  const shared = {
    promptLogprobs:
      request.promptLogprobs === true && prompt_logprobs !== undefined
        ? alignedLogprobs(prompt_logprobs, request.prompt.length, requestId)
        : undefined,
    topKPromptLogprobs:
      request.topKPromptLogprobs === undefined ? undefined : topk_prompt_logprobs && toTopK(topk_prompt_logprobs),
  }
  return sequences.map(({ tokens, logprobs, stop_reason }, index) => {
    if (logprobs === undefined ? tokens.length > 0 : logprobs.length !== tokens.length) {
      const message = `sample ${index} has ${logprobs?.length ?? 0} log-probabilities for ${tokens.length} tokens`
      throw new ServiceError('protocol', message, { requestId })
    }
    return { tokens, logprobs: Float64Array.from(logprobs ?? []), stopReason: stop_reason, ...shared }
  })
}

// SkyRL leaves out the first token, which nothing predicts; everybody else says NaN for it.
function alignedLogprobs(logprobs: Float32Array, promptLength: number, requestId: string): Float64Array {
  if (logprobs.length === promptLength) return Float64Array.from(logprobs)
  if (logprobs.length === promptLength - 1) return Float64Array.of(Number.NaN, ...logprobs)
  const message = `${logprobs.length} log-probabilities for a prompt of ${promptLength} tokens`
  throw new ServiceError('protocol', message, { requestId })
}

function toTopK({ k, tokens, logprobs }: tinker.TopK): TopKLogprobs {
  const isNone = (slot: number) => logprobs[slot] === tinker.noLogprob
  return {
    k,
    tokens: tokens.map((token, slot) => (isNone(slot) ? -1 : token)),
    logprobs: Float64Array.from(logprobs, (value) => (value === tinker.noLogprob ? Number.NaN : value)),
  }
}

// How fast samples are asked for. A service that is asked for too many says 429; then everybody who samples from the same
// session waits a moment, and for a while only few go at once.
type SamplingGateOptions = {
  clock: Clock
  /** Bytes of prompts on their way, of all sessions together. */
  bytes: ByteBudget
  onBackoff: (waitMs: number) => void
}

const submitsAtOnce = 400
const submitsWhenTroubled = 10
const troubleMs = 10_000
const costWhenTroubled = 20
const largePromptBytes = 131_072

class SamplingGate {
  readonly #clock: Clock
  readonly #bytes: ByteBudget
  readonly #onBackoff: (waitMs: number) => void
  readonly #slots = new ByteBudget(submitsAtOnce)
  readonly #troubledSlots = new ByteBudget(submitsWhenTroubled)
  #closedUntilMs = Number.NEGATIVE_INFINITY
  #troubledUntilMs = Number.NEGATIVE_INFINITY

  constructor({ clock, bytes, onBackoff }: SamplingGateOptions) {
    this.#clock = clock
    this.#bytes = bytes
    this.#onBackoff = onBackoff
  }

  /** Runs `submit` when it may go. */
  async pass<T>(promptBytes: number, signal: AbortSignal, submit: () => Promise<T>): Promise<T> {
    const releases = [await this.#slots.acquire(1, signal)]
    try {
      for (;;) {
        const waitMs = this.#closedUntilMs - this.#clock.now()
        if (waitMs <= 0) break
        await this.#clock.sleep(waitMs, signal)
      }
      const isTroubled = this.#clock.now() < this.#troubledUntilMs
      if (isTroubled) releases.push(await this.#troubledSlots.acquire(1, signal))
      releases.push(await this.#bytes.acquire(isTroubled ? promptBytes * costWhenTroubled : promptBytes, signal))
      return await submit()
    } finally {
      for (const release of releases) release()
    }
  }

  /** The service said 429. */
  backOff(promptBytes: number): void {
    const waitMs = promptBytes > largePromptBytes ? 5000 : 1000
    const nowMs = this.#clock.now()
    this.#closedUntilMs = Math.max(this.#closedUntilMs, nowMs + waitMs)
    this.#troubledUntilMs = nowMs + waitMs + troubleMs
    this.#onBackoff(waitMs)
  }
}
