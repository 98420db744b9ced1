// A client of one training service: start-up, session, models, samplers. Usable alone; it knows no algorithm and no experiment.
import type { TrainingService } from '../contracts/index.ts'
import * as tinker from '../contracts/tinker/index.ts'
import { type Clock, onAbort, systemClock } from '../kernel/index.ts'
import { ByteBudget } from './byte-budget.ts'
import { type Caller, createCaller, defaultRetryForMs, idempotentCaller } from './caller.ts'
import { type OnTinkerEvent, throttleEvents } from './client-events.ts'
import { type ConnectionWatch, createConnectionWatch } from './connection-watch.ts'
import { Credentials } from './credentials.ts'
import { type Heartbeat, startHeartbeat, startTimedHeartbeat } from './heartbeat.ts'
import { PassFormat } from './pass-data.ts'
import { loraConfig, type ModelSpec, type Preset, type PresetName, presets, specOf } from './presets.ts'
import { RestClient } from './rest-client.ts'
import { expectJson } from './retrieve-future.ts'
import { Sampler } from './sampler.ts'
import { isServiceError, ServiceError } from './service-error.ts'
import { type CallOptions, requestResult, type Session } from './session.ts'
import { socketFetch } from './socket-fetch.ts'
import { TrainingModel } from './training-model.ts'
import { createTrainingService } from './training-service.ts'
import { createTransport, type Fetch, type Transport } from './transport.ts'

export type TinkerClientOptions = {
  /** Default: the environment's `TINKER_BASE_URL`, else that of the preset. */
  baseUrl?: string | undefined
  apiKey?: string | undefined
  /** Which service it is. Default `tinker`, the hosted one. */
  preset?: PresetName | Preset | undefined
  /** Ends everything that is under way. */
  signal?: AbortSignal | undefined
  /** The way to the service; a server in the same process offers one. */
  fetch?: Fetch | undefined
  /** A socket of this machine that the service listens on. */
  socketPath?: string | undefined
  /** `fetch` leads to a server in this process: nothing is late, lost or sent twice, and a result that is there at once comes at once. */
  isInProcess?: boolean | undefined
  /** Sent with every request, for a gateway in front of the service. */
  headers?: Readonly<Record<string, string>> | undefined
  onEvent?: OnTinkerEvent | undefined
  tags?: readonly string[] | undefined
  userMetadata?: Readonly<Record<string, string>> | undefined
  projectId?: string | undefined
  /** How often the session says that it lives. Default 10,000; 0 for never. */
  heartbeatMs?: number | undefined
  /** How long a call that fails for reasons that may go away is repeated. Default five minutes. */
  retryForMs?: number | undefined
  /** How long a service that has never answered is tried. Default six seconds. */
  connectForMs?: number | undefined
  /** Aborted: what is under way is still waited for, as long as the service answers. */
  stopping?: AbortSignal | undefined
  clock?: Clock | undefined
}

// The version of the protocol that is spoken here, in the numbers of the official client.
const sdkVersion = '0.36.0'

/** Connects: reads the flags of the service and, where it wants that, exchanges the key for a token. */
export function createTinkerClient(options: TinkerClientOptions = {}): Promise<TinkerClient> {
  return TinkerClient.connect(options)
}

/** A connection to one service, from its flags to the end of its session. */
export class TinkerClient implements Session, AsyncDisposable {
  readonly preset: Preset
  readonly clock: Clock
  readonly retryForMs: number
  readonly transport: Transport
  readonly caller: Caller
  readonly rest: RestClient
  /** The contract of the training loop, for the models of this client. */
  readonly service: TrainingService
  readonly onEvent: OnTinkerEvent
  readonly passFormat: PassFormat
  readonly passBytes: ByteBudget
  readonly responseBytes: ByteBudget
  readonly promptBytes: ByteBudget
  /** Flags that the service answered at the start. */
  readonly flags: tinker.ClientConfigResponse
  readonly #options: TinkerClientOptions
  readonly #connection: Connection
  readonly #models = new Map<string, TrainingModel>()
  #modelSeq = 0
  #samplerSeq = 0
  #opened: Promise<string> | undefined
  #heartbeat: Heartbeat | undefined
  #dynamic = tinker.ClientDynamicConfigResponse.parse({})
  #dynamicUntilMs = Number.NEGATIVE_INFINITY

  private constructor(options: TinkerClientOptions, connection: Connection) {
    const { preset, clock, transport, caller, flags, ending, credentials } = connection
    const { onEvent = () => {} } = options
    this.#options = options
    this.#connection = connection
    this.preset = preset
    this.clock = clock
    this.transport = transport
    this.caller = caller
    this.retryForMs = options.retryForMs ?? defaultRetryForMs
    this.flags = flags
    this.onEvent = throttleEvents(onEvent, clock)
    this.passFormat = new PassFormat({
      caller,
      onEvent,
      wire: preset.wire === 'auto' && flags.proto_write_fwdbwd === false ? 'json' : preset.wire,
      compress: flags.proto_compress_fwdbwd,
    })
    this.passBytes = new ByteBudget(flags.fwdbwd_dispatch_bytes_semaphore_size)
    this.responseBytes = new ByteBudget(flags.inflight_response_bytes_semaphore_size)
    this.promptBytes = new ByteBudget(flags.sample_dispatch_bytes_semaphore_size)
    const rest = new RestClient({ caller, clock, signal: ending.signal })
    this.rest = rest
    this.service = createTrainingService({
      model: (modelId) => this.#models.get(modelId),
      openSampler: (of) => this.sampler(of),
      rest,
      deleteSnapshot: preset.deletesSnapshots ? (id) => rest.deleteSampler(id) : undefined,
    })
    credentials.onChange(() => this.#heartbeat?.update(connection.headers()))
    onAbort(ending.signal, () => void this.#heartbeat?.stop())
  }

  static async connect(options: TinkerClientOptions): Promise<TinkerClient> {
    return new TinkerClient(options, await connect(options))
  }

  get signal(): AbortSignal {
    return this.#connection.ending.signal
  }

  health(): Promise<tinker.HealthResponse> {
    return this.caller.json({ method: 'GET', path: '/api/v1/healthz' }, tinker.HealthResponse)
  }

  capabilities(): Promise<tinker.ServerCapabilities> {
    return this.caller.json({ method: 'GET', path: '/api/v1/get_server_capabilities' }, tinker.ServerCapabilities)
  }

  /** Id of the session, which is made when it is first needed. */
  sessionId(): Promise<string> {
    this.#opened ??= this.#openSession()
    this.#opened.catch(() => {
      this.#opened = undefined // the next use may find the service again
    })
    return this.#opened
  }

  nextSamplerSeq(): number {
    return this.#samplerSeq++
  }

  cancels(): boolean {
    void this.#refreshDynamic()
    return this.#dynamic.sample_cancel_enabled
  }

  async createModel(spec: ModelSpec, options?: CallOptions): Promise<TrainingModel> {
    const json = {
      session_id: await this.sessionId(),
      model_seq_id: this.#modelSeq++,
      base_model: spec.baseModel,
      user_metadata: spec.userMetadata,
      ...loraConfig(spec, this.preset),
      type: 'create_model',
    }
    const expected = expectJson('CreateModel', tinker.CreateModelResponse)
    const { model_id } = await requestResult(this, { path: '/api/v1/create_model', json }, expected, options)
    return this.#register(model_id)
  }

  /** A new model that resumes from a saved one: its shape, and its optimiser too if asked. */
  async createModelFrom(
    path: string,
    options: CallOptions & { optimizer: boolean; userMetadata?: Readonly<Record<string, string>> | undefined },
  ): Promise<TrainingModel> {
    const { optimizer, userMetadata, ...callOptions } = options
    if (this.flags.create_model_via_load_weights) {
      const json = {
        session_id: await this.sessionId(),
        model_seq_id: this.#modelSeq++,
        path,
        optimizer,
        user_metadata: userMetadata,
        type: 'load_weights',
      }
      const expected = expectJson('LoadWeights', tinker.LoadWeightsResponse)
      const made = await requestResult(this, { path: '/api/v1/load_weights', json }, expected, callOptions)
      return this.#register(made.model_id ?? `${json.session_id}:train:${json.model_seq_id}`)
    }
    const info = await this.rest.weightsInfo(path)
    const model = await this.createModel({ ...specOf(info), userMetadata }, callOptions)
    await model.load(path, { optimizer, ...callOptions })
    return model
  }

  async sampler(of: { baseModel: string } | { path: string } | { samplingSessionId: string }): Promise<Sampler> {
    if (!this.preset.samples) {
      throw new ServiceError('invalid', 'this service draws no samples', {
        fix: 'sample from a deployment of the weights.',
      })
    }
    await this.#refreshDynamic()
    if ('samplingSessionId' in of) return new Sampler(of.samplingSessionId, this)
    if ('path' in of && !of.path.startsWith('tinker://')) {
      throw new ServiceError('invalid', `"${of.path}" is no path of weights`, { fix: 'a path begins with tinker://.' })
    }
    const json = {
      session_id: await this.sessionId(),
      sampling_session_seq_id: this.nextSamplerSeq(),
      ...('path' in of ? { model_path: of.path } : { base_model: of.baseModel }),
      type: 'create_sampling_session',
    }
    const path = '/api/v1/create_sampling_session'
    const call = { method: 'POST', path, json, retryStatus: this.preset.retryStatus } as const
    const { sampling_session_id } = await this.caller.json(call, tinker.CreateSamplingSessionResponse)
    return new Sampler(sampling_session_id, this)
  }

  async close(reason?: 'success' | 'errored' | 'interrupted'): Promise<void> {
    if (this.signal.aborted) return
    const sessionId = await this.#opened?.catch(() => undefined)
    if (reason !== undefined && sessionId !== undefined) {
      // Newer services like to know; older ones have no such route.
      const path = `/api/v1/sessions/${sessionId}/finish`
      const json = { reason: { type: reason } }
      await this.caller.done({ method: 'POST', path, json, retry: 'off', accept: [404, 405] }).catch(() => {})
    }
    await this.#heartbeat?.stop()
    this.#connection.release()
    this.#connection.ending.abort(
      new ServiceError('invalid', 'the client was closed', { fix: 'await results before closing.' }),
    )
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #register(modelId: string): TrainingModel {
    const model = new TrainingModel(modelId, this)
    this.#models.set(modelId, model)
    return model
  }

  async #openSession(): Promise<string> {
    const { onEvent = () => {} } = this.#options
    const call = { method: 'POST', path: '/api/v1/create_session', json: sessionBody(this.#options) } as const
    const answer = await this.caller.json(call, tinker.CreateSessionResponse)
    for (const level of ['info', 'warning', 'error'] as const) {
      const text = answer[`${level}_message`]
      if (text != null) onEvent({ type: 'message', level, text })
    }
    this.#heartbeat = this.#beat(answer.session_id)
    return answer.session_id
  }

  #beat(sessionId: string): Heartbeat | undefined {
    const { heartbeatMs: everyMs = 10_000, onEvent = () => {}, fetch, socketPath } = this.#options
    const { clock, signal, transport } = this
    const { baseUrl, headers, credentials, connection } = this.#connection
    if (everyMs === 0) return undefined
    const path = '/api/v1/session_heartbeat'
    if (fetch === undefined) {
      const url = `${baseUrl.replace(/\/+$/, '')}${path}`
      const onOutcome = (outcome: number | string) => {
        if (typeof outcome === 'number') connection.answered()
        else connection.failed(`no sign of life was taken: ${outcome}`)
      }
      const onBeat = () => void credentials.refresh() // a token must last for the thread too
      return startHeartbeat({
        url,
        socketPath,
        sessionId,
        headers: headers(),
        onEvent,
        clock,
        onBeat,
        onOutcome,
        everyMs,
      })
    }
    const json = { session_id: sessionId, type: 'session_heartbeat' }
    const send = () => transport.send({ method: 'POST', path, json, timeoutMs: 10_000, signal })
    return startTimedHeartbeat(async () => (await send()).status, { onEvent, clock, everyMs })
  }

  // Only samplers need it: a client that trains alone never asks. Read again by the next use once it is old, since a timer would
  // keep the process alive.
  async #refreshDynamic(): Promise<void> {
    const { clock } = this
    if (clock.now() < this.#dynamicUntilMs) return
    this.#dynamicUntilMs = clock.now() + 10_000
    try {
      this.#dynamic = await readConfig(this.caller, '/api/v1/client/dynamic_config', tinker.ClientDynamicConfigResponse)
      this.#dynamicUntilMs = clock.now() + 1000 * Math.max(10, this.#dynamic.refresh_interval_sec)
    } catch {
      // Without news the flags stay as they were.
    }
  }
}

type Connection = Awaited<ReturnType<typeof connect>>

async function connect(options: TinkerClientOptions) {
  const preset: Preset = typeof options.preset === 'object' ? options.preset : presets[options.preset ?? 'tinker']
  const { clock = systemClock, onEvent = () => {} } = options
  const baseUrl = options.baseUrl ?? addressFrom(process.env.TINKER_BASE_URL) ?? preset.baseUrl
  const apiKey = options.apiKey ?? preset.apiKey
  if (baseUrl === undefined)
    throw new ServiceError('invalid', 'no address of a service', { fix: 'give baseUrl, or set TINKER_BASE_URL.' })
  if (apiKey === undefined) throw new ServiceError('invalid', 'no API key', { fix: 'give apiKey.' })
  const ending = new AbortController()
  const stopListening =
    options.signal === undefined ? () => {} : onAbort(options.signal, () => ending.abort(options.signal?.reason))
  const credentials = new Credentials(apiKey, clock)
  const added = Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])
  const common: Readonly<Record<string, string>> = { 'user-agent': 'evsys', ...Object.fromEntries(added) }
  const headers = () => ({ ...common, 'x-api-key': credentials.value })
  const prepare = () => credentials.refresh()
  const { isInProcess = false } = options
  const connection = createConnectionWatch({
    url: baseUrl,
    onEvent,
    clock,
    connectForMs: options.connectForMs,
    retryForMs: options.retryForMs ?? defaultRetryForMs,
  })
  const stopCutting = cutOffWhenLost(connection, options.stopping, (error) => ending.abort(error))
  const { socketPath } = options
  const way = options.fetch ?? (socketPath === undefined ? fetch : socketFetch(socketPath))
  const plain = createTransport({ baseUrl, headers, prepare, fetch: way, timed: !isInProcess })
  const transport = isInProcess ? plain : connection.watched(plain)
  let flags = tinker.ClientConfigResponse.parse({})
  const direct = createCaller({
    transport,
    signal: ending.signal,
    clock,
    onEvent,
    billingPauseMs: () => flags.billing_exception_max_pause_duration_sec * 1000,
    retryForMs: options.retryForMs,
    wantsResults: isInProcess,
    connection,
  })
  const caller = isInProcess ? direct : idempotentCaller(direct)
  const release = () => {
    stopListening()
    stopCutting()
  }
  try {
    flags = await readConfig(caller, '/api/v1/client/config', tinker.ClientConfigResponse)
    if (flags.pjwt_auth_enabled) await credentials.useTokens(caller)
  } catch (error) {
    release()
    throw error
  }
  return { preset, clock, baseUrl, ending, release, credentials, headers, transport, caller, flags, connection }
}

/** An address that was written into a variable; absent where nothing is in it. */
export function addressFrom(text: string | undefined): string | undefined {
  const address = text?.trim() ?? ''
  if (address === '') return undefined
  if (/^https?:\/\/[^/]/.test(address) && URL.canParse(address)) return address
  throw new ServiceError('invalid', `TINKER_BASE_URL is "${address}", which is no address of a service`, {
    fix: 'write it as http://127.0.0.1:10600, or leave it unset.',
  })
}

// Who was asked to stop waits for work that is being done, and not for a service that is gone.
function cutOffWhenLost(
  connection: ConnectionWatch,
  stopping: AbortSignal | undefined,
  end: (error: ServiceError) => void,
): () => void {
  if (stopping === undefined) return () => {}
  const check = () => {
    const error = stopping.aborted ? connection.lost() : undefined
    if (error !== undefined) end(error)
  }
  connection.onLost(check)
  return onAbort(stopping, check)
}

// Services of the time before flags answer 404; the defaults are what they expect.
async function readConfig<S extends Parameters<Caller['json']>[1]>(caller: Caller, path: string, schema: S) {
  try {
    return await caller.json({ method: 'POST', path, json: { sdk_version: sdkVersion } }, schema)
  } catch (error) {
    if (isServiceError(error) && (error.status === 404 || error.status === 405)) return schema.parse({})
    throw error
  }
}

function sessionBody({ tags = [], userMetadata = {}, projectId }: TinkerClientOptions) {
  return { tags, user_metadata: userMetadata, sdk_version: sdkVersion, project_id: projectId, type: 'create_session' }
}
