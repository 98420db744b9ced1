// Samples of many conversations at once: 64 requests for one sample each, as concurrent rollouts send them, against one request
// for 64 samples, over HTTP and on the CPU engine. Requests of equal prompts and of different ones; and the same while gradients of
// another model are computed.

import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLocalTrainer, serveTrainer } from '../build/backends/local/index.js'
import { createTinkerClient } from '../build/tinker/index.js'
import { printTable } from './best-of.mjs'

const model = process.argv[2] ?? 'evsys/nano'
const rounds = Number(process.argv[3] ?? 5)
const count = 64
const maxTokens = 32
const promptTokens = 96

const dir = mkdtempSync(join(tmpdir(), 'evsys-bench-'))
const trainer = await openLocalTrainer({ engine: 'cpu', models: [model], project: dir, dir, keys: ['tml-bench'] })
const server = await serveTrainer(trainer, { port: 0 })
const client = await createTinkerClient({ preset: 'evsys', baseUrl: server.url, apiKey: 'tml-bench' })
const trained = await client.createModel({ baseModel: model, rank: 8, seed: 1 })
const { service } = client
const { modelId } = trained

/** @param {number} salt */
const prompt = (salt) =>
  Int32Array.from({ length: promptTokens }, (_, at) => 3 + ((at * 7 + salt * 13 * (at % 5)) % 400))
/** @param {{ kind: 'sampler', uri: string }} weights @param {number} salt @param {number} numSamples @param {number} seed */
const sample = (weights, salt, numSamples, seed) =>
  service.sample({ model: weights, prompt: prompt(salt), numSamples, maxTokens, temperature: 1, seed })

/** Gradients as a step of training takes them. */
const pass = () => {
  const data = Array.from({ length: 16 }, (_, i) => {
    const tokens = prompt(i)
    const shape = [tokens.length]
    return {
      tokens,
      lossInputs: {
        target_tokens: { data: tokens, shape },
        weights: { data: new Float32Array(tokens.length).fill(1), shape },
      },
    }
  })
  return service.forwardBackward(modelId, data, { name: 'cross_entropy' })
}

/** @type {Record<string, (weights: { kind: 'sampler', uri: string }) => Promise<unknown>>} */
const ways = {
  'one request, 64 samples': (weights) => sample(weights, 1, count, 1),
  '64 requests, equal prompts': (weights) =>
    Promise.all(Array.from({ length: count }, (_, i) => sample(weights, 1, 1, i))),
  '64 requests, different prompts': (weights) =>
    Promise.all(Array.from({ length: count }, (_, i) => sample(weights, i, 1, i))),
  'gradients alone (16 rows)': () => pass(),
  '64 different, gradients beside': (weights) =>
    Promise.all([...Array.from({ length: count }, (_, i) => sample(weights, i, 1, i)), pass()]),
}
/** @type {Map<string, number>} */
const best = new Map()
for (let round = 0; round < rounds + 1; round++) {
  const weights = await service.snapshot(modelId)
  for (const [name, work] of Object.entries(ways)) {
    const began = performance.now()
    await work(weights)
    if (round > 0) best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, performance.now() - began))
  }
}
await client.close('success')
await server[Symbol.asyncDispose]()
await trainer[Symbol.asyncDispose]()
rmSync(dir, { recursive: true, force: true })

console.log(
  `\n${model}, ${promptTokens} tokens of prompt, ${maxTokens} drawn, best of ${rounds}, Node ${process.versions.node}, load ${loadavg()[0]?.toFixed(1)}`,
)
printTable([
  ['what', 'ms', 'samples/s'],
  ...[...best].map(([name, ms]) => [
    name,
    ms.toFixed(0),
    name.includes('alone') ? '' : ((1000 * count) / ms).toFixed(0),
  ]),
])
