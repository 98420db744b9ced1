// One model in training on a service. Calls are ordered by when they are made, and pipeline: the next is sent as soon as the one
// before was accepted, long before it is done.
import type { Adam, Datum, FwdBwd, Loss, Metrics, NamedLoss } from '../contracts/index.ts'
import * as tinker from '../contracts/tinker/index.ts'
import { unlessAborted } from '../kernel/index.ts'
import type { Accepted } from './caller.ts'
import { carrier, checkDatums, evaluateLoss, unweighted, withGradients } from './loss-data.ts'
import { joinPasses, type Part, splitBatch, toWireDatum } from './pass-data.ts'
import { RequestOrder } from './request-order.ts'
import { type Expected, expectJson, expectPass } from './retrieve-future.ts'
import { ServiceError } from './service-error.ts'
import {
  type CallOptions,
  callSignal,
  requestResult,
  retrieve,
  type Session,
  type Submitted,
  startFuture,
  type TinkerFuture,
} from './session.ts'

export type SaveCallOptions = CallOptions & {
  ttlSeconds?: number | undefined
  userMetadata?: Readonly<Record<string, string>> | undefined
}

/** Work in its order, and the result that is being asked for. */
type Ordered<T> = Submitted & { readonly result: Promise<T> }

export class TrainingModel {
  readonly modelId: string
  readonly #session: Session
  readonly #order: RequestOrder

  constructor(modelId: string, session: Session) {
    this.modelId = modelId
    this.#session = session
    this.#order = new RequestOrder({
      onBroken: (seq, { message }) => session.onEvent({ type: 'broken', modelId, seq, message }),
    })
  }

  /** Number of the request that was lost on the way; from then on nothing is sent. */
  get brokenAt(): number | undefined {
    return this.#order.brokenAt
  }

  /** Log-probabilities without gradients. */
  forward(data: readonly Datum[], loss: Loss, options: CallOptions = {}): TinkerFuture<FwdBwd> {
    return this.#run(options, (signal) => this.#pass(data, loss, true, signal))
  }

  /** Adds to the gradients that the next step uses up. */
  forwardBackward(data: readonly Datum[], loss: Loss, options: CallOptions = {}): TinkerFuture<FwdBwd> {
    return this.#run(options, (signal) => this.#pass(data, loss, false, signal))
  }

  optimStep(adam: Adam, options: CallOptions = {}): TinkerFuture<Metrics> {
    const adam_params = {
      learning_rate: adam.learningRate,
      beta1: adam.beta1,
      beta2: adam.beta2,
      eps: adam.eps,
      weight_decay: adam.weightDecay ?? 0,
      grad_clip_norm: adam.gradClipNorm ?? 0,
    }
    const expected = expectJson('OptimStep', tinker.OptimStepResponse)
    const call = this.#single('optim_step', { adam_params }, expected, ({ metrics }) => metrics ?? {})
    return this.#run(options, call)
  }

  /** Saves weights and optimiser; the path to load them from. A name that is taken fails at once. */
  saveState(
    name: string,
    { overwrite = false, ...options }: SaveCallOptions & { overwrite?: boolean | undefined } = {},
  ) {
    const body = { path: name, overwrite, ...saveFields(options) }
    const expected = expectJson('SaveWeights', tinker.SaveWeightsResponse)
    const call = this.#single('save_weights', body, expected, ({ path }) => path)
    return this.#run(options, call)
  }

  /** Saves weights to sample from; their path. */
  saveForSampler(name: string, options: SaveCallOptions = {}): TinkerFuture<string> {
    const body = { path: name, ...saveFields(options) }
    const expected = expectJson('SaveWeightsForSampler', tinker.SaveWeightsForSamplerResponse)
    const call = this.#single('save_weights_for_sampler', body, expected, ({ path }) => {
      if (path != null) return path
      throw new ServiceError('protocol', 'save_weights_for_sampler: the answer names no path')
    })
    return this.#run(options, call)
  }

  /** Weights to sample from that live as long as the session; the id of their sampling session. */
  snapshot(options: CallOptions = {}): TinkerFuture<string> {
    const sampling_session_seq_id = this.#session.nextSamplerSeq()
    const expected = expectJson('SaveWeightsForSampler', tinker.SaveWeightsForSamplerResponse)
    const body = { sampling_session_seq_id }
    const call = this.#single('save_weights_for_sampler', body, expected, ({ sampling_session_id }) => {
      if (sampling_session_id != null) return sampling_session_id
      throw new ServiceError('protocol', 'save_weights_for_sampler: the answer names no sampling session')
    })
    return this.#run(options, call)
  }

  /** The first request of a model, if it comes at all. */
  load(
    path: string,
    { optimizer, accessToken, ...options }: CallOptions & { optimizer: boolean; accessToken?: string | undefined },
  ): TinkerFuture<void> {
    const body = { path, optimizer, weights_access_token: accessToken }
    const expected = expectJson('LoadWeights', tinker.LoadWeightsResponse)
    const call = this.#single('load_weights', body, expected, () => undefined)
    return this.#run(options, call)
  }

  info(): Promise<tinker.GetInfoResponse> {
    const json = { model_id: this.modelId, type: 'get_info' }
    return this.#session.caller.json({ method: 'POST', path: '/api/v1/get_info', json }, tinker.GetInfoResponse)
  }

  /** Frees the model on the service. */
  async unload(options: CallOptions = {}): Promise<void> {
    const json = { model_id: this.modelId, type: 'unload_model' }
    const call = { path: '/api/v1/unload_model', json }
    await requestResult(this.#session, call, expectJson('UnloadModel', tinker.UnloadModelResponse), options)
  }

  // A caller who stops waiting does not stop what is being sent: an order with a hole in it would be worse.
  #run<T>(options: CallOptions, submit: (signal: AbortSignal) => Promise<Ordered<T>>): TinkerFuture<T> {
    return startFuture(async (accepted) => {
      const linked = callSignal(this.#session, options)
      try {
        const answer = async () => {
          const { result, requestIds, seqs } = await this.#order.inTurn(() => {
            linked.signal.throwIfAborted()
            return submit(linked.signal)
          })
          accepted({ requestIds, seqs })
          return result
        }
        return await unlessAborted(answer(), linked.signal)
      } finally {
        linked.release()
      }
    })
  }

  #single<W, T>(route: string, body: object, expected: Expected<W>, read: (answer: W) => T) {
    return async (signal: AbortSignal): Promise<Ordered<T>> => {
      const { caller, clock, preset } = this.#session
      const sentMs = clock.now()
      const { seq, answer } = await this.#order.sendOne(
        (seq_id) => {
          const json = { model_id: this.modelId, seq_id, ...body, type: route }
          const call = { method: 'POST', path: `/api/v1/${route}`, json, retryStatus: preset.retryStatus } as const
          return caller.submit(call)
        },
        { isConflict: route.startsWith('save_') },
      )
      const result = this.#retrieve(answer, seq, expected, { signal, sentMs }).then(read)
      result.catch(() => {}) // the future rejects with it
      return { requestIds: [answer.requestId], seqs: [seq], result }
    }
  }

  async #retrieve<T>(
    accepted: Accepted,
    seq: number,
    expected: Expected<T>,
    { signal, sentMs }: { signal: AbortSignal; sentMs: number },
  ): Promise<T> {
    try {
      const roundTripMs = this.#session.clock.now() - sentMs
      return await retrieve(this.#session, accepted, expected, { signal, roundTripMs })
    } catch (error) {
      throw error instanceof ServiceError ? error.with({ requestId: accepted.requestId, seq }) : error
    }
  }

  #pass(data: readonly Datum[], loss: Loss, forwardOnly: boolean, signal: AbortSignal): Promise<Ordered<FwdBwd>> {
    return 'custom' in loss
      ? this.#customPass(data, loss, forwardOnly, signal)
      : this.#namedPass(data, loss, forwardOnly, signal)
  }

  async #namedPass(
    data: readonly Datum[],
    loss: NamedLoss,
    forwardOnly: boolean,
    signal: AbortSignal,
  ): Promise<Ordered<FwdBwd>> {
    const { flags, preset, clock } = this.#session
    if (preset.lacksLosses.includes(loss.name)) {
      throw new ServiceError('invalid', `this service has no loss "${loss.name}"`, { fix: 'choose another loss.' })
    }
    checkDatums(data, loss)
    const limits = { maxDatums: flags.fwdbwd_max_chunk_len, maxBytes: flags.fwdbwd_max_chunk_bytes_count }
    const parts = splitBatch(data, limits)
    const expected = expectPass(forwardOnly)
    const together = flags.parallel_fwdbwd_chunks && preset.ordersBySeq
    const sentMs = clock.now()
    const answers = await this.#order.sendAll(
      parts.map((part) => async (seq: number) => {
        const accepted = await this.#sendPart(part, loss, { seq, forwardOnly })
        const result = this.#retrieve(accepted, seq, expected, { signal, sentMs })
        result.catch(() => {}) // the future rejects with it
        return { requestId: accepted.requestId, result }
      }),
      together ? 'together' : 'in order',
    )
    const result = Promise.all(answers.map(({ answer }) => answer.result)).then((outputs) =>
      joinPasses(parts, outputs, loss),
    )
    result.catch(() => {})
    return { requestIds: answers.map(({ answer }) => answer.requestId), seqs: answers.map(({ seq }) => seq), result }
  }

  async #sendPart(
    { data, sizeBytes }: Part,
    loss: NamedLoss,
    { seq, forwardOnly }: { seq: number; forwardOnly: boolean },
  ) {
    const { passBytes, passFormat, signal } = this.#session
    const release = await passBytes.acquire(sizeBytes, signal)
    try {
      return await passFormat.send({
        model_id: this.modelId,
        seq_id: seq,
        forward_backward_input: { data: data.map(toWireDatum), loss_fn: loss.name, loss_fn_config: loss.config },
        forward_only: forwardOnly,
      })
    } finally {
      release()
    }
  }

  // The turn lasts until the second pass is accepted: no step may come between the two.
  async #customPass(
    data: readonly Datum[],
    loss: Exclude<Loss, NamedLoss>,
    forwardOnly: boolean,
    signal: AbortSignal,
  ): Promise<Ordered<FwdBwd>> {
    const first = await this.#namedPass(unweighted(data), carrier, true, signal)
    const { outputs } = await unlessAborted(first.result, signal)
    const evaluated = await evaluateLoss(data, loss, outputs, signal)
    const metrics = { ...evaluated.metrics, 'loss:sum': evaluated.loss }
    if (forwardOnly) return { ...first, result: Promise.resolve({ outputs, metrics }) }
    signal.throwIfAborted()
    const second = await this.#namedPass(withGradients(data, evaluated.gradients), carrier, false, signal)
    const result = second.result.then((surrogate) => ({ outputs, metrics: { ...surrogate.metrics, ...metrics } }))
    result.catch(() => {})
    const requestIds = [...first.requestIds, ...second.requestIds]
    return { requestIds, seqs: [...first.seqs, ...second.seqs], result }
  }
}

function saveFields({ ttlSeconds, userMetadata }: SaveCallOptions) {
  return { ttl_seconds: ttlSeconds, user_metadata: userMetadata }
}
