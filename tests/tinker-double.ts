// A training service on loopback for tests of the client: the protocol around a real engine, in as few lines as that takes. It
// keeps what it was asked, and can be told to misbehave.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Datum, Engine, EngineResult, Tensor } from '../src/contracts/index.ts'
import * as tinker from '../src/contracts/tinker/index.ts'

/** A request as it arrived. */
export type Seen = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly bytes: Uint8Array
  /** The body, if it is JSON. */
  readonly json: Record<string, unknown>
}

export type Reply =
  | {
      status?: number | undefined
      json?: unknown
      bytes?: Uint8Array | undefined
      headers?: Record<string, string> | undefined
    }
  /** The connection is cut. */
  | 'cut'
  /** Nothing is said. */
  | 'silence'

export type Misbehaviour = (seen: Seen) => Reply | undefined | Promise<Reply | undefined>

export type DoubleOptions = {
  engine?: Engine | undefined
  flags?: Record<string, unknown> | undefined
  /** Path below which the service stands. */
  prefix?: string | undefined
  /** Answers passes and samples as JSON, and refuses protobuf bodies. */
  jsonOnly?: boolean | undefined
}

export type TinkerDouble = AsyncDisposable & {
  readonly url: string
  readonly seen: Seen[]
  /** Asked before everything else, the newest first; undefined lets the request through. */
  misbehave(how: Misbehaviour): void
  /** Requests with this path, in the order they came. */
  of(path: string): Seen[]
}

export async function startTinkerDouble(options: DoubleOptions = {}): Promise<TinkerDouble> {
  const { prefix = '', jsonOnly = false } = options
  const seen: Seen[] = []
  const misbehaviours: Misbehaviour[] = []
  const work = new DoubleWork(options)

  const answer = async (request: Seen): Promise<Reply> => {
    for (const how of misbehaviours) {
      const reply = await how(request)
      if (reply !== undefined) return reply
    }
    return work.answer(request, jsonOnly)
  }

  const server = createServer((incoming, outgoing) => {
    void readRequest(incoming, prefix).then(async (request) => {
      seen.push(request)
      const reply = request.path.startsWith('/api/v1/')
        ? await answer(request)
        : { status: 404, json: { detail: 'no route' } }
      send(outgoing, reply)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port, not on a pipe
  return {
    url: `http://127.0.0.1:${port}${prefix}`,
    seen,
    misbehave: (how) => void misbehaviours.unshift(how),
    of: (path) => seen.filter((each) => each.path === `/api/v1/${path}`),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function readRequest(incoming: IncomingMessage, prefix: string): Promise<Seen> {
  const parts: Buffer[] = []
  for await (const part of incoming) parts.push(part)
  const bytes = new Uint8Array(Buffer.concat(parts))
  const isJson = incoming.headers['content-type']?.includes('json') ?? false
  const url = incoming.url ?? ''
  return {
    method: incoming.method ?? '',
    path: url.startsWith(prefix) ? url.slice(prefix.length) : `outside:${url}`,
    headers: incoming.headers,
    bytes,
    json: isJson ? JSON.parse(Buffer.from(bytes).toString('utf8')) : {},
  }
}

function send(outgoing: ServerResponse, reply: Reply): void {
  if (reply === 'silence') return
  if (reply === 'cut') {
    outgoing.destroy()
    return
  }
  const { status = 200, json, bytes, headers = {} } = reply
  const type = bytes === undefined ? 'application/json' : 'application/x-protobuf'
  const body = bytes === undefined ? Buffer.from(json === undefined ? '' : JSON.stringify(json)) : Buffer.from(bytes)
  outgoing.writeHead(status, { 'content-type': type, 'content-length': body.length, ...headers }).end(body)
}

type Done = { json: unknown; bytes?: Uint8Array | undefined }

/** The service proper: work in the order of its numbers, promises that can be asked for again and again. */
class DoubleWork {
  readonly #options: DoubleOptions
  readonly #promises = new Map<string, Promise<Done>>()
  readonly #waiting = new Map<string, Map<number, () => void>>()
  readonly #next = new Map<string, number>()
  #sessions = 0

  constructor(options: DoubleOptions) {
    this.#options = options
  }

  async answer(seen: Seen, jsonOnly: boolean): Promise<Reply> {
    const { json } = seen
    const route = seen.path.replace('/api/v1/', '')
    switch (route) {
      case 'client/config':
        return { json: { ...this.#options.flags, field_of_the_future: 1 } }
      case 'client/dynamic_config':
        return { status: 404, json: { detail: 'Not Found' } }
      case 'auth/token':
        return { json: { jwt: token(Date.now() + 3_600_000) } }
      case 'healthz':
        return { json: { status: 'ok', more: true } }
      case 'get_server_capabilities':
        return { json: { supported_models: [{ model_name: 'm', max_context_length: 64, more: 1 }] } }
      case 'create_session':
        return { json: { type: 'create_session', session_id: `s${this.#sessions++}`, info_message: 'hello', more: 1 } }
      case 'session_heartbeat':
        return { json: { type: 'session_heartbeat' } }
      case 'create_sampling_session':
        return { json: { sampling_session_id: `${json.session_id}:sample:${json.sampling_session_seq_id}` } }
      case 'create_model':
        return this.#createModel(json)
      case 'retrieve_future':
        return this.#retrieve(seen, jsonOnly)
      case 'forward':
      case 'forward_backward':
        return this.#pass(route, seen, jsonOnly)
      case 'asample':
        return this.#sample(json)
      case 'optim_step':
        return this.#ordered(json, async () => {
          const given = tinker.OptimStepRequest.parse(json).adam_params ?? tinker.AdamParams.parse({})
          const adam = {
            learningRate: given.learning_rate,
            beta1: given.beta1,
            beta2: given.beta2,
            eps: given.eps,
            weightDecay: given.weight_decay,
          }
          const result = await this.#engine({ op: 'optim_step', model: String(json.model_id), adam })
          return { json: { metrics: 'metrics' in result ? result.metrics : {} } }
        })
      case 'save_weights':
        return this.#ordered(json, async () => ({ json: { path: `tinker://${json.model_id}/weights/${json.path}` } }))
      case 'save_weights_for_sampler':
        return this.#ordered(json, async () => {
          const session = String(json.model_id).split(':')[0]
          return json.path === undefined
            ? { json: { path: null, sampling_session_id: `${session}:sample:${json.sampling_session_seq_id}` } }
            : { json: { path: `tinker://${json.model_id}/sampler_weights/${json.path}`, sampling_session_id: null } }
        })
      case 'load_weights':
        return this.#ordered(json, async () => ({ json: { path: json.path, type: 'load_weights' } }))
      default:
        return { status: 404, json: { detail: 'no such route' } }
    }
  }

  async #createModel(json: Seen['json']): Promise<Reply> {
    const model = `${json.session_id}:train:${json.model_seq_id}`
    const { rank, seed } = tinker.CreateModelRequest.parse(json).lora_config ?? { rank: 0, seed: 0 }
    const lora = { rank, seed: seed ?? 0, trainAttention: true, trainMlp: true, trainUnembedding: true }
    await this.#engine({ op: 'create', model, baseModel: String(json.base_model), ...(rank === 0 ? {} : { lora }) })
    return this.#promise(`${model}:0`, Promise.resolve({ json: { model_id: model, type: 'create_model' } }))
  }

  #pass(route: string, seen: Seen, jsonOnly: boolean): Reply {
    const isProtobuf = seen.headers['content-type'] === 'application/x-protobuf'
    if (isProtobuf && jsonOnly) return { status: 422, json: { detail: [{ loc: ['body'], msg: 'not JSON' }] } }
    const request = isProtobuf
      ? tinker.decodeForwardBackwardRequest(seen.bytes)
      : route === 'forward'
        ? { ...seen.json, forward_only: true, forward_backward_input: seen.json.forward_input }
        : seen.json
    const { model_id, seq_id, forward_backward_input, forward_only } = tinker.ForwardBackwardRequest.parse(request)
    return this.#ordered({ model_id, seq_id }, async () => {
      const data = forward_backward_input.data.map(toDatum)
      const op = forward_only ? 'forward' : 'forward_backward'
      const loss = { name: forward_backward_input.loss_fn }
      const result = await this.#engine({ op, model: model_id, data, loss })
      const output = toOutput('fwdBwd' in result ? result.fwdBwd : { outputs: [], metrics: {} })
      return { json: plain(output), bytes: tinker.encodeForwardBackwardOutput(output) }
    })
  }

  #sample(json: Seen['json']): Reply {
    const request = tinker.SampleRequest.parse(json)
    const prompt = tinker.tokensOf(request.prompt)
    const response: tinker.SampleResponse = {
      sequences: Array.from({ length: request.num_samples }, (_, index) => ({
        stop_reason: 'length' as const,
        tokens: Int32Array.of(index, prompt.length),
        logprobs: Float32Array.of(-0.5, -0.25),
      })),
      ...(request.prompt_logprobs === true
        ? { prompt_logprobs: Float32Array.from(prompt, (_, at) => (at === 0 ? Number.NaN : -at)) }
        : {}),
      prompt_cache_hit_tokens: 0,
    }
    const done = { json: tinker.sampleToJson(response), bytes: tinker.encodeSampleResponse(response) }
    return this.#promise(`${request.sampling_session_id}:${request.seq_id}`, Promise.resolve(done))
  }

  async #retrieve(seen: Seen, jsonOnly: boolean): Promise<Reply> {
    const found = this.#promises.get(String(seen.json.request_id))
    if (found === undefined) return { status: 404, json: { detail: 'no such request' } }
    try {
      const { json, bytes } = await found
      const wants = seen.headers.accept?.includes('application/x-protobuf') ?? false
      return bytes !== undefined && wants && !jsonOnly ? { bytes } : { json }
    } catch (error) {
      return { json: { error: error instanceof Error ? error.message : String(error), category: 'user' } }
    }
  }

  #ordered(json: { model_id?: unknown; seq_id?: unknown }, run: () => Promise<Done>): Reply {
    const model = String(json.model_id)
    const seq = Number(json.seq_id)
    const id = `${model}:${seq}`
    if (this.#promises.has(id)) return { json: { request_id: id, model_id: model } }
    const waiting = this.#waiting.get(model) ?? new Map<number, () => void>()
    this.#waiting.set(model, waiting)
    const done = new Promise<void>((resolve) => waiting.set(seq, resolve)).then(run)
    for (let next = this.#next.get(model) ?? 1; waiting.has(next); next++) {
      waiting.get(next)?.()
      waiting.delete(next)
      this.#next.set(model, next + 1)
    }
    return this.#promise(id, done)
  }

  #promise(id: string, done: Promise<Done>): Reply {
    done.catch(() => {})
    this.#promises.set(id, done)
    return { json: { request_id: id, field_of_the_future: true } }
  }

  async #engine(op: Parameters<Engine['run']>[0]): Promise<EngineResult> {
    return this.#options.engine === undefined ? echo(op) : this.#options.engine.run(op, new AbortController().signal)
  }
}

// Without an engine: each target has log-probability -1.
function echo(op: Parameters<Engine['run']>[0]): EngineResult {
  if (op.op !== 'forward' && op.op !== 'forward_backward')
    return op.op === 'optim_step' ? { metrics: {} } : { done: true }
  const outputs = op.data.map(({ lossInputs: { target_tokens } }) => ({
    logprobs: { data: new Float32Array(target_tokens?.data.length ?? 0).fill(-1), shape: target_tokens?.shape ?? [0] },
  }))
  const first = op.data[0]?.tokens[0] ?? 0
  return { fwdBwd: { outputs, metrics: { 'loss:sum': op.data.length, 'first:mean': first, 'first:max': first } } }
}

function toDatum({ model_input, loss_fn_inputs }: tinker.Datum): Datum {
  const lossInputs = Object.entries(loss_fn_inputs).map(([name, tensor]): [string, Tensor] => {
    const { data, shape } = tinker.denseTensor(tensor)
    return [name, { data: tensor.dtype === 'int64' ? Int32Array.from(data) : Float32Array.from(data), shape }]
  })
  return { tokens: tinker.tokensOf(model_input), lossInputs: Object.fromEntries(lossInputs) }
}

type Passed = Extract<EngineResult, { fwdBwd: unknown }>['fwdBwd']

function toOutput({ outputs, metrics }: Passed): tinker.ForwardBackwardOutput {
  return {
    loss_fn_output_type: 'ArrayRecord',
    loss_fn_outputs: outputs.map((output) =>
      Object.fromEntries(
        Object.entries(output).map(([name, { data, shape }]) => [
          name,
          { data: Float32Array.from(data), dtype: 'float32' as const, shape: [...shape] },
        ]),
      ),
    ),
    metrics,
  }
}

function plain(output: tinker.ForwardBackwardOutput): unknown {
  return JSON.parse(JSON.stringify(output, (_, value) => (value instanceof Float32Array ? Array.from(value) : value)))
}

/** An unsigned token that ends at a moment. */
export function token(endsMs: number): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'none' })}.${part({ exp: endsMs / 1000, sub: 'someone' })}.x`
}
