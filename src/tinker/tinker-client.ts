// A client of one training service: start-up, session, models, samplers. Usable alone; it knows no algorithm and no experiment.
import type { TrainingService } from '../contracts/index.ts'
import * as tinker from '../contracts/tinker/index.ts'
import { type Clock, onAbort, systemClock } from '../kernel/index.ts'
import { ByteBudget } from './byte-budget.ts'
import { type Caller, createCaller } from './caller.ts'
import { Credentials } from './credentials.ts'
import { expectJson } from './expected-results.ts'
import { type Heartbeat, startHeartbeat, startTimedHeartbeat } from './heartbeat.ts'
import { idempotentCaller } from './idempotent-caller.ts'
import { loraConfig, type ModelSpec, specOf } from './model-spec.ts'
import { PassFormat } from './pass-format.ts'
import { type Preset, type PresetName, presets } from './presets.ts'
import { RestClient } from './rest-client.ts'
import { Sampler } from './sampler.ts'
import { isServiceError, ServiceError } from './service-error.ts'
import { type CallOptions, requestResult, type Session } from './session.ts'
import { throttleEvents } from './throttle-events.ts'
import type { OnTinkerEvent } from './tinker-event.ts'
import { TrainingModel } from './training-model.ts'
import { createTrainingService } from './training-service.ts'
import { createTransport, type Fetch } from './transport.ts'

export type TinkerClientOptions = {
  /** Default: that of the preset. */
  baseUrl?: string
  apiKey?: string
  /** Which service it is. Default `tinker`, the hosted one. */
  preset?: PresetName | Preset
  /** Ends everything that is under way. */
  signal?: AbortSignal
  /** The way to the service; a server in the same process offers one. */
  fetch?: Fetch
  /** Sent with every request, for a gateway in front of the service. */
  headers?: Readonly<Record<string, string>>
  onEvent?: OnTinkerEvent
  tags?: readonly string[]
  userMetadata?: Readonly<Record<string, string>>
  projectId?: string
  /** How often the session says that it lives. Default 10,000; 0 for never. */
  heartbeatMs?: number
  /** How long a call that fails for reasons that may go away is repeated. Default five minutes. */
  retryForMs?: number
  clock?: Clock
}

export interface TinkerClient extends AsyncDisposable {
  readonly rest: RestClient
  /** The contract of the training loop, for the models of this client. */
  readonly service: TrainingService
  /** Flags that the service answered at the start. */
  readonly flags: tinker.ClientConfigResponse
  health(): Promise<tinker.HealthResponse>
  capabilities(): Promise<tinker.ServerCapabilities>
  /** Id of the session, which is made when it is first needed. */
  sessionId(): Promise<string>
  createModel(spec: ModelSpec, options?: CallOptions): Promise<TrainingModel>
  /** A new model that goes on from a saved one: its own shape, and its optimiser too if asked. */
  createModelFrom(
    path: string,
    options: CallOptions & { optimizer: boolean; userMetadata?: Readonly<Record<string, string>> },
  ): Promise<TrainingModel>
  sampler(of: { baseModel: string } | { path: string } | { samplingSessionId: string }): Promise<Sampler>
  close(reason?: 'success' | 'errored' | 'interrupted'): Promise<void>
}

// The version of the protocol that is spoken here, in the numbers of the official client.
const sdkVersion = '0.36.0'

/** Connects: reads the flags of the service and, where it wants that, exchanges the key for a token. */
export async function createTinkerClient(options: TinkerClientOptions = {}): Promise<TinkerClient> {
  const preset: Preset = typeof options.preset === 'object' ? options.preset : presets[options.preset ?? 'tinker']
  const { clock = systemClock, onEvent = () => {} } = options
  const baseUrl = options.baseUrl ?? preset.baseUrl
  const apiKey = options.apiKey ?? preset.apiKey
  if (baseUrl === undefined) throw new ServiceError('invalid', 'no address of a service', { fix: 'give baseUrl.' })
  if (apiKey === undefined) throw new ServiceError('invalid', 'no API key', { fix: 'give apiKey.' })
  const ending = new AbortController()
  const stopListening =
    options.signal === undefined ? () => {} : onAbort(options.signal, () => ending.abort(options.signal?.reason))
  const { signal } = ending

  const credentials = new Credentials(apiKey, clock)
  const headers = () => ({ 'user-agent': 'evsys', ...options.headers, 'x-api-key': credentials.value })
  const prepare = () => credentials.refresh()
  const transport = createTransport({ baseUrl, headers, prepare, fetch: options.fetch ?? fetch })
  let flags = tinker.ClientConfigResponse.parse({})
  const caller = idempotentCaller(
    createCaller({
      transport,
      signal,
      clock,
      onEvent,
      billingPauseMs: () => flags.billing_exception_max_pause_duration_sec * 1000,
      ...(options.retryForMs === undefined ? {} : { retryForMs: options.retryForMs }),
    }),
  )
  flags = await readConfig(caller, '/api/v1/client/config', tinker.ClientConfigResponse)
  if (flags.pjwt_auth_enabled) await credentials.useTokens(caller)
  let dynamic = await readConfig(caller, '/api/v1/client/dynamic_config', tinker.ClientDynamicConfigResponse)
  let dynamicSinceMs = clock.now()
  // Read again by whoever asks, once it is old: no timer keeps a process alive for it.
  const refreshDynamic = () => {
    if (clock.now() - dynamicSinceMs < 1000 * Math.max(10, dynamic.refresh_interval_sec)) return
    dynamicSinceMs = clock.now()
    readConfig(caller, '/api/v1/client/dynamic_config', tinker.ClientDynamicConfigResponse).then(
      (fresh) => {
        dynamic = fresh
      },
      () => {}, // without news the flags stay as they were
    )
  }

  let heartbeat: Heartbeat | undefined
  const openSession = async (): Promise<string> => {
    const answer = await caller.json(
      { method: 'POST', path: '/api/v1/create_session', json: sessionBody(options) },
      tinker.CreateSessionResponse,
    )
    for (const level of ['info', 'warning', 'error'] as const) {
      const text = answer[`${level}_message`]
      if (text != null) onEvent({ type: 'message', level, text })
    }
    heartbeat = beat(answer.session_id)
    return answer.session_id
  }
  const beat = (sessionId: string): Heartbeat | undefined => {
    const everyMs = options.heartbeatMs ?? 10_000
    if (everyMs === 0) return undefined
    const path = '/api/v1/session_heartbeat'
    if (options.fetch === undefined) {
      const url = `${baseUrl.replace(/\/+$/, '')}${path}`
      const onBeat = () => void prepare() // a token must last for the thread too
      return startHeartbeat({ url, sessionId, headers: headers(), onEvent, clock, onBeat, everyMs })
    }
    const json = { session_id: sessionId, type: 'session_heartbeat' }
    const send = () => transport.send({ method: 'POST', path, json, timeoutMs: 10_000, signal })
    return startTimedHeartbeat(async () => (await send()).status, { onEvent, clock, everyMs })
  }
  credentials.onChange(() => heartbeat?.update(headers()))

  let opened: Promise<string> | undefined
  let modelSeq = 0
  let samplerSeq = 0
  const session: Session = {
    transport,
    caller,
    clock,
    signal,
    preset,
    flags,
    onEvent: throttleEvents(onEvent, clock),
    passFormat: new PassFormat({
      caller,
      onEvent,
      wire: preset.wire === 'auto' && flags.proto_write_fwdbwd === false ? 'json' : preset.wire,
      compress: flags.proto_compress_fwdbwd,
    }),
    passBytes: new ByteBudget(flags.fwdbwd_dispatch_bytes_semaphore_size),
    responseBytes: new ByteBudget(flags.inflight_response_bytes_semaphore_size),
    promptBytes: new ByteBudget(flags.sample_dispatch_bytes_semaphore_size),
    id: () => {
      opened ??= openSession()
      opened.catch(() => {
        opened = undefined // the next use may find the service again
      })
      return opened
    },
    nextSamplerSeq: () => samplerSeq++,
    cancels: () => {
      refreshDynamic()
      return dynamic.sample_cancel_enabled
    },
  }

  const models = new Map<string, TrainingModel>()
  const register = (modelId: string): TrainingModel => {
    const model = new TrainingModel(modelId, session)
    models.set(modelId, model)
    return model
  }

  const createModel: TinkerClient['createModel'] = async (spec, callOptions) => {
    const json = {
      session_id: await session.id(),
      model_seq_id: modelSeq++,
      base_model: spec.baseModel,
      ...(spec.userMetadata === undefined ? {} : { user_metadata: spec.userMetadata }),
      ...loraConfig(spec, preset),
      type: 'create_model',
    }
    const expected = expectJson('CreateModel', tinker.CreateModelResponse)
    const { model_id } = await requestResult(session, { path: '/api/v1/create_model', json }, expected, callOptions)
    return register(model_id)
  }

  const openSampler: TinkerClient['sampler'] = async (of) => {
    if (!preset.samples) {
      throw new ServiceError('invalid', 'this service draws no samples', {
        fix: 'sample from a deployment of the weights.',
      })
    }
    if ('samplingSessionId' in of) return new Sampler(of.samplingSessionId, session)
    if ('path' in of && !of.path.startsWith('tinker://')) {
      throw new ServiceError('invalid', `"${of.path}" is no path of weights`, { fix: 'a path begins with tinker://.' })
    }
    const json = {
      session_id: await session.id(),
      sampling_session_seq_id: session.nextSamplerSeq(),
      ...('path' in of ? { model_path: of.path } : { base_model: of.baseModel }),
      type: 'create_sampling_session',
    }
    const call = {
      method: 'POST',
      path: '/api/v1/create_sampling_session',
      json,
      retryStatus: preset.retryStatus,
    } as const
    const { sampling_session_id } = await caller.json(call, tinker.CreateSamplingSessionResponse)
    return new Sampler(sampling_session_id, session)
  }

  const rest = new RestClient({ caller, clock, signal })
  const close: TinkerClient['close'] = async (reason) => {
    if (signal.aborted) return
    const sessionId = await opened?.catch(() => undefined)
    if (reason !== undefined && sessionId !== undefined) {
      const path = `/api/v1/sessions/${sessionId}/finish`
      // Newer services like to know; older ones have no such route.
      const call = {
        method: 'POST',
        path,
        json: { reason: { type: reason } },
        retry: 'off',
        accept: [404, 405],
      } as const
      await caller.done(call).catch(() => {})
    }
    await heartbeat?.stop()
    stopListening()
    ending.abort(new ServiceError('invalid', 'the client was closed', { fix: 'await results before closing.' }))
  }
  onAbort(signal, () => void heartbeat?.stop())

  return {
    rest,
    flags,
    service: createTrainingService({
      ...{ model: (modelId) => models.get(modelId), openSampler, rest },
      deleteSnapshot: preset.deletesSnapshots ? (id) => rest.deleteSampler(id) : undefined,
    }),
    health: () => caller.json({ method: 'GET', path: '/api/v1/healthz' }, tinker.HealthResponse),
    capabilities: () =>
      caller.json({ method: 'GET', path: '/api/v1/get_server_capabilities' }, tinker.ServerCapabilities),
    sessionId: session.id,
    createModel,
    async createModelFrom(path, { optimizer, userMetadata, ...callOptions }) {
      if (flags.create_model_via_load_weights) {
        const json = {
          session_id: await session.id(),
          model_seq_id: modelSeq++,
          path,
          optimizer,
          ...(userMetadata === undefined ? {} : { user_metadata: userMetadata }),
          type: 'load_weights',
        }
        const expected = expectJson('LoadWeights', tinker.LoadWeightsResponse)
        const made = await requestResult(session, { path: '/api/v1/load_weights', json }, expected, callOptions)
        return register(made.model_id ?? `${json.session_id}:train:${json.model_seq_id}`)
      }
      const info = await rest.weightsInfo(path)
      const model = await createModel(
        { ...specOf(info), ...(userMetadata === undefined ? {} : { userMetadata }) },
        callOptions,
      )
      await model.load(path, { optimizer, ...callOptions })
      return model
    },
    sampler: openSampler,
    close,
    [Symbol.asyncDispose]: () => close(),
  }
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

function sessionBody({ tags, userMetadata, projectId }: TinkerClientOptions) {
  return {
    tags: tags ?? [],
    user_metadata: userMetadata ?? {},
    sdk_version: sdkVersion,
    ...(projectId === undefined ? {} : { project_id: projectId }),
    type: 'create_session',
  }
}
