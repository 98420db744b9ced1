// What HTTP adds to a training request: the same operation on the same engine thread, once called directly and once as a client
// does it, by a request and a poll for its result. Limit: 3 ms per request, so 6 ms for the two.

import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { mockCatalog, mockVocabSize } from '../build/backends/models/mock-models.js'
import { createTrainer, engineModule, openEngineHost, serveTrainer } from '../dist/trainer/index.js'
import { printTable } from './best-of.mjs'

const limitMs = 3
const rounds = Number(process.argv[2] ?? 1000)
const warm = 100
const dir = mkdtempSync(join(tmpdir(), 'evsys-bench-'))
const { signal } = new AbortController()
const engine = await openEngineHost(engineModule({ kind: 'mock', vocabSize: mockVocabSize }))
const trainer = await createTrainer({ dir, engine, models: mockCatalog(['m']) })
const server = await serveTrainer(trainer, { port: 0 })

/** @param {string} path @param {unknown} body @returns {Promise<any>} what the trainer answers, which the bench made itself */
async function post(path, body) {
  const response = await fetch(`${server.url}/api/v1/${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'x-api-key': 'tml-bench', 'content-type': 'application/json' },
  })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return response.json()
}

/** Sorted times of single calls, in ms. @param {(round: number) => Promise<unknown>} work */
async function timed(work) {
  const times = []
  for (let round = 0; round < warm + rounds; round++) {
    const began = performance.now()
    await work(round)
    if (round >= warm) times.push(performance.now() - began)
  }
  return times.sort((a, b) => a - b)
}

/** @param {number[]} times @param {number} share */
const quantile = (times, share) => times[Math.floor(share * (times.length - 1))] ?? Number.NaN

const tokens = Array.from({ length: 64 }, (_, at) => at)
const weights = tokens.map(() => 1)
const { session_id } = await post('create_session', {})
const made = await post('create_model', { session_id, model_seq_id: 0, base_model: 'm', lora_config: { rank: 8 } })
await post('retrieve_future', made)
const data = [
  {
    model_input: { chunks: [{ type: 'encoded_text', tokens }] },
    loss_fn_inputs: {
      target_tokens: { data: tokens, dtype: 'int64' },
      weights: { data: weights, dtype: 'float32' },
    },
  },
]
const direct = await timed(() =>
  engine.run(
    {
      op: 'forward',
      model: made.model_id,
      loss: { name: 'cross_entropy' },
      data: [
        {
          tokens: Int32Array.from(tokens),
          lossInputs: {
            target_tokens: { data: Int32Array.from(tokens), shape: [64] },
            weights: { data: Float32Array.from(weights), shape: [64] },
          },
        },
      ],
    },
    signal,
  ),
)
const overHttp = await timed(async (round) => {
  const input = { data, loss_fn: 'cross_entropy' }
  const promise = await post('forward', { model_id: made.model_id, seq_id: round + 1, forward_input: input })
  const result = await post('retrieve_future', promise)
  if (result.metrics === undefined) throw new Error(JSON.stringify(result))
})
const health = await timed(() => post('session_heartbeat', { session_id }))
await server[Symbol.asyncDispose]()
await trainer[Symbol.asyncDispose]()
await engine[Symbol.asyncDispose]()
rmSync(dir, { recursive: true, force: true })

const addedMs = (quantile(overHttp, 0.5) - quantile(direct, 0.5)) / 2
console.log(`\nTrainer over HTTP, ${rounds} rounds, Node ${process.versions.node}, load ${loadavg()[0]?.toFixed(1)}`)
printTable([
  ['what', 'median ms', '90 % ms'],
  ...Object.entries({ 'forward, engine alone': direct, 'forward and its poll': overHttp, heartbeat: health }).map(
    ([name, times]) => [name, quantile(times, 0.5).toFixed(2), quantile(times, 0.9).toFixed(2)],
  ),
])
console.log(`HTTP adds ${addedMs.toFixed(2)} ms per request (limit ${limitMs})`)
process.exitCode = addedMs <= limitMs ? 0 : 1
