// A real trainer on a real port, with the mock engine, and the few words that tests say to it.
import { afterEach } from 'vitest'
import { mockCatalog, mockVocabSize } from '../../src/backends/models/mock-models.ts'
import type { Engine } from '../../src/contracts/index.ts'
import { createMockEngine } from '../../src/engine/mock/mock-engine.ts'
import type { Clock } from '../../src/kernel/index.ts'
import { createTrainer, type Quota, serveTrainer, type TrainerLimits } from '../../src/trainer/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'

export type Json = Record<string, unknown>

export type RunningTrainer = AsyncDisposable & {
  readonly url: string
  readonly dir: string
  request(path: string, init?: RequestInit): Promise<Response>
  /** Posts JSON; the answer must be a success. */
  post(path: string, body: unknown): Promise<Json>
  /** Posts JSON; any answer. */
  send(
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: Json; headers: Headers }>
  get(path: string): Promise<{ status: number; body: Json }>
  session(): Promise<string>
  /** A model that is ready. */
  model(
    sessionId: string,
    options?: {
      seq?: number | undefined
      rank?: number | undefined
      seed?: number | undefined
      base?: string | undefined
    },
  ): Promise<string>
  /** Waits for the result of a promise, as JSON. */
  result(promise: Json): Promise<Json>
  /** Posts and waits for the result. */
  run(path: string, body: unknown): Promise<Json>
}

export type Start = {
  dir?: string | undefined
  clock?: Clock | undefined
  limits?: Partial<TrainerLimits> | undefined
  keys?: readonly string[] | undefined
  quota?: Partial<Quota> | undefined
  engine?: Engine | undefined
}

/** For the tests of a file: trainers that are closed after each test. */
export function runningTrainers(): (start?: Start) => Promise<RunningTrainer> {
  const folder = temporaryFolders()
  const open: AsyncDisposable[] = []
  afterEach(async () => {
    for (const each of open.splice(0).reverse()) await each[Symbol.asyncDispose]()
  })
  return async (start = {}) => {
    const running = await startTrainer({ ...start, dir: start.dir ?? folder() })
    open.push(running)
    return running
  }
}

async function startTrainer({
  dir,
  clock,
  limits,
  keys,
  quota,
  engine: given,
}: Start & { dir: string }): Promise<RunningTrainer> {
  const engine = given ?? createMockEngine({ vocabSize: mockVocabSize })
  const trainer = await createTrainer({
    dir,
    engine,
    models: mockCatalog(['evsys/tiny']),
    clock,
    limits,
    keys,
    quota,
  })
  const server = await serveTrainer(trainer, { port: 0 })
  let isClosed = false

  const request = (path: string, init: RequestInit = {}) =>
    fetch(`${server.url}${path.startsWith('/') ? path : `/api/v1/${path}`}`, {
      ...init,
      redirect: 'manual',
      headers: { 'x-api-key': 'tml-test', ...Object.fromEntries(new Headers(init.headers)) },
    })
  const send: RunningTrainer['send'] = async (path, body, headers = {}) => {
    const response = await request(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? {} : JSON.parse(text), headers: response.headers }
  }
  const post: RunningTrainer['post'] = async (path, body) => {
    const { status, body: answer } = await send(path, body)
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`)
    return answer
  }
  const result: RunningTrainer['result'] = async ({ request_id }) => {
    const answer = await post('retrieve_future', { request_id, allow_metadata_only: false })
    return answer.type === 'try_again' ? result({ request_id }) : answer
  }
  const run: RunningTrainer['run'] = async (path, body) => result(await post(path, body))
  return {
    url: server.url,
    dir,
    request,
    send,
    post,
    async get(path) {
      const response = await request(path)
      const text = await response.text()
      return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
    },
    async session() {
      return String(
        (await post('create_session', { tags: [], sdk_version: 'test', type: 'create_session' })).session_id,
      )
    },
    async model(sessionId, { seq = 0, rank = 8, seed = 7, base = 'evsys/tiny' } = {}) {
      const made = await run('create_model', {
        session_id: sessionId,
        model_seq_id: seq,
        base_model: base,
        ...(rank === 0 ? {} : { lora_config: { rank, seed } }),
      })
      return String(made.model_id)
    },
    result,
    run,
    async [Symbol.asyncDispose]() {
      if (isClosed) return
      isClosed = true
      await server[Symbol.asyncDispose]()
      await trainer[Symbol.asyncDispose]()
      await engine[Symbol.asyncDispose]()
    },
  }
}

/** A training example: the tokens and what follows each of them. */
export function datum(tokens: readonly number[], { weight = 1 }: { weight?: number | undefined } = {}): Json {
  const input = tokens.slice(0, -1)
  return {
    model_input: { chunks: [{ type: 'encoded_text', tokens: input }] },
    loss_fn_inputs: {
      target_tokens: { data: tokens.slice(1), dtype: 'int64', shape: [input.length] },
      weights: { data: input.map(() => weight), dtype: 'float32', shape: [input.length] },
    },
  }
}

export function forwardBackward(
  model_id: string,
  seq_id: number,
  data: readonly Json[],
  loss_fn = 'cross_entropy',
): Json {
  return { model_id, seq_id, forward_backward_input: { data, loss_fn } }
}

export function optimStep(model_id: string, seq_id: number, adam_params: Json = { learning_rate: 0.1 }): Json {
  return { model_id, seq_id, adam_params, type: 'optim_step' }
}
