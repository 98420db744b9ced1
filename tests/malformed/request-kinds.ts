// Requests to a trainer, on a real port: every route that reads a body, JSON and protobuf, packed or not.
import { request } from 'node:http'
import { mockCatalog, mockVocabSize } from '../../src/backends/models/mock-models.ts'
import * as tinker from '../../src/contracts/tinker/index.ts'
import { createMockEngine } from '../../src/engine/mock/mock-engine.ts'
import { createTrainer, serveTrainer } from '../../src/trainer/index.ts'
import { damagedJson } from '../model-mutations.ts'
import { damaged } from './damage.ts'
import type { Input, Kind } from './kinds.ts'

const prompt = { chunks: [{ type: 'encoded_text', tokens: [1, 2] }] }
const datum = {
  model_input: prompt,
  loss_fn_inputs: {
    target_tokens: { data: [2, 3], dtype: 'int64', shape: [2] },
    weights: { data: [1, 1], dtype: 'float32', shape: [2] },
  },
}
const pass = { data: [datum], loss_fn: 'cross_entropy' }
/** By path: a request that is right, but for the model that it names. */
const sound: Readonly<Record<string, object>> = {
  create_session: { tags: ['a'], sdk_version: 'x', user_metadata: { a: 'b' } },
  session_heartbeat: { session_id: 's' },
  create_model: { session_id: 's', model_seq_id: 1, base_model: 'evsys/tiny', lora_config: { rank: 2, seed: 1 } },
  create_sampling_session: { session_id: 's', sampling_session_seq_id: 1, base_model: 'evsys/tiny' },
  forward_backward: { model_id: 'm', seq_id: 1, forward_backward_input: pass },
  forward: { model_id: 'm', seq_id: 1, forward_input: pass },
  optim_step: { model_id: 'm', seq_id: 1, adam_params: { learning_rate: 0.1 }, type: 'optim_step' },
  save_weights: { model_id: 'm', seq_id: 1, path: 'name', ttl_seconds: 5 },
  save_weights_for_sampler: { model_id: 'm', seq_id: 1, path: 'name' },
  load_weights: { session_id: 's', model_seq_id: 1, path: 'tinker://m/weights/a', optimizer: true },
  asample: { base_model: 'evsys/tiny', prompt, num_samples: 1, sampling_params: { max_tokens: 2, stop: ['a'] } },
  retrieve_future: { request_id: 'm:1', allow_metadata_only: true },
  retrieve_futures: {
    target: { sampling_session_id: 's', cloned_sampler_id: 0 },
    prev_cursor: 0,
    retrieved_request_ids: ['a'],
    timeout: 0,
  },
  weights_info: { tinker_path: 'tinker://m/weights/a' },
  telemetry: { events: [{ event: 'a' }], platform: 'x', sdk_version: 'y', session_id: 's' },
  '/v1/completions': { model: 'evsys/tiny', prompt: 'abc', max_tokens: 2, n: 1 },
  '/v1/chat/completions': { model: 'evsys/tiny', messages: [{ role: 'user', content: 'x' }], max_tokens: 2 },
}
const paths = Object.keys(sound)
const protobuf = () => tinker.encodeForwardBackwardRequest(tinker.ForwardBackwardRequest.parse(sound.forward_backward))

let running: Promise<string> | undefined

async function startTrainer(dir: string): Promise<string> {
  const engine = createMockEngine({ vocabSize: mockVocabSize })
  const limits = { holdMs: 1, gapMs: 1 }
  const trainer = await createTrainer({ dir, engine, models: mockCatalog(['evsys/tiny']), limits })
  return (await serveTrainer(trainer, { port: 0 })).url
}

/** Sends bytes; any answer but one of the 500s is right, and so is a connection that is closed. */
async function send(dir: string, path: string, body: Input, headers: Record<string, string>): Promise<string> {
  running ??= startTrainer(dir)
  const url = await running
  const status = await new Promise<number>((resolve, reject) => {
    const sent = request(new URL(path.startsWith('/') ? path : `/api/v1/${path}`, url), { method: 'POST', headers })
    sent.on('response', (response) =>
      response
        .resume()
        .on('end', () => resolve(response.statusCode ?? 0))
        .on('error', reject),
    )
    sent.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' || error.code === 'EPIPE' ? resolve(0) : reject(error),
    )
    sent.end(body)
  })
  if (status >= 500) throw new Error(`${path} was answered with ${status}`)
  return String(status)
}

const deep = (count: number) => `${'['.repeat(count)}${']'.repeat(count)}`
/** A request in one text: its path, its JSON. */
const split = (input: Input) =>
  /^(\S*) ([\s\S]*)$/.exec(typeof input === 'string' ? input : Buffer.from(input).toString('latin1')) ?? []

export const requestKinds: readonly Kind[] = [
  {
    name: 'request (JSON)',
    count: 2500,
    seeds: () => paths.map((path) => `${path} ${JSON.stringify(sound[path])}`),
    mutate(seed, random) {
      const [, path = '', json = ''] = split(seed)
      return `${path} ${random.int(3) > 0 ? damagedJson(json, random) : String(damaged(json, random))}`
    },
    bombs: Object.fromEntries(
      ['forward_backward', '/v1/chat/completions'].flatMap((path) =>
        Object.entries({
          'a hundred thousand levels': () => `{"prompt":${deep(100_000)}}`,
          'levels without end': () => '{"a":'.repeat(900_000),
          'nine hundred thousand parts': () => `{"data":[${'{},'.repeat(449_000)}{}]}`,
          'two million parts': () => `{"data":[${'{},'.repeat(2_000_000)}{}]}`,
          'four hundred thousand keys': () => `{${Array.from({ length: 400_000 }, (_, at) => `"k${at}":1`).join(',')}}`,
          'a text of thirty megabytes': () => `{"path":"${'x'.repeat(30_000_000)}"}`,
          'sixty megabytes of spaces': () => ' '.repeat(60_000_000),
          'three million numbers': () =>
            `{"prompt":{"chunks":[{"type":"encoded_text","tokens":[${'1,'.repeat(3_000_000)}1]}]},"base_model":"evsys/tiny","num_samples":1,"sampling_params":{}}`,
        }).map(([name, make]) => [`${path}: ${name}`, () => `${path} ${make()}`]),
      ),
    ),
    async use(input, dir) {
      const [, path = '', json = ''] = split(input)
      return send(dir, path, json, { 'content-type': 'application/json' })
    },
  },
  {
    name: 'request (protobuf)',
    count: 1500,
    seeds: () => [protobuf()],
    bombs: {
      'eight megabytes of empty data': () => Buffer.alloc(8 << 20, Buffer.from([0x1a, 0x00])),
      'a hundred megabytes of zeros': () => Buffer.alloc(100 << 20),
      'fields without end': () => Buffer.alloc(20 << 20, Buffer.from([0x08, 0x01])),
      'a number of ten million bytes': () => Buffer.alloc(10_000_000, 0xff),
      'messages in messages': () => nestedMessages(20_000),
    },
    use: (input, dir) => send(dir, 'forward_backward', input, { 'content-type': 'application/x-protobuf' }),
  },
  {
    name: 'request (zstd)',
    count: 500,
    seeds: () => [Buffer.concat([Buffer.from('28b52ffd00', 'hex'), Buffer.from([0x58]), rawBlock(protobuf())])],
    bombs: {
      'a gigabyte of zeros': () =>
        Buffer.concat([
          Buffer.from('28b52ffd0058', 'hex'),
          Buffer.alloc(4 * 8192, Buffer.from([0x02, 0x00, 0x10, 0x00])),
        ]),
      'a hundred megabytes of empty data': () =>
        Buffer.concat([
          Buffer.from('28b52ffd0058', 'hex'),
          Buffer.alloc(4 * 800, Buffer.from([0x02, 0x00, 0x10, 0x1a])),
        ]),
    },
    use: (input, dir) =>
      send(dir, 'forward_backward', input, { 'content-type': 'application/x-protobuf', 'content-encoding': 'zstd' }),
  },
]

function rawBlock(content: Uint8Array): Uint8Array {
  const head = (content.length << 3) | 1
  return Buffer.concat([Buffer.from([head & 0xff, (head >> 8) & 0xff, head >> 16]), content])
}

function nestedMessages(levels: number): Buffer {
  let message = Buffer.from([0x1a, 0x00])
  for (let level = 0; level < levels; level++) {
    const length: number[] = []
    for (let rest = message.length; ; rest >>>= 7) {
      length.push(rest > 127 ? (rest & 127) | 128 : rest)
      if (rest <= 127) break
    }
    message = Buffer.concat([Buffer.from([0x1a, ...length]), message])
  }
  return message
}
