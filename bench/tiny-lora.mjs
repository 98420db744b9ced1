// LoRA of rank 8 on `evsys/tiny`: 60 steps of 16 texts of 48 tokens, more than the notes of models/recipe/tasks have, through the trainer
// as a run does it. Limits on two cores: 45 s with native kernels, 90 s on WebAssembly.

import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLocalTrainer } from '../build/backends/local/index.js'
import { findCompiler } from '../build/engine/cpu/native-build.js'
import { createTinkerClient } from '../dist/tinker/index.js'
import { printTable } from './best-of.mjs'

const [steps, batchSize, length] = [60, 16, 48]
const limits = { native: 45, wasm: 90 }
const model = 'evsys/tiny'

/** Seconds of the steps, and the loss of the first and of the last. @param {'native' | 'wasm'} engine */
async function measure(engine) {
  process.env.EVSYS_ENGINE = engine
  const dir = mkdtempSync(join(tmpdir(), 'evsys-bench-'))
  const trainer = await openLocalTrainer({ engine: 'cpu', models: [model], project: dir, dir, keys: [] })
  const client = await createTinkerClient({
    preset: 'evsys',
    baseUrl: 'http://trainer',
    fetch: (input, init) => trainer.fetch(new Request(input, init)),
  })
  const lora = await client.createModel({ baseModel: model, rank: 8, seed: 0 })
  const began = performance.now()
  /** @type {number[]} */
  const losses = []
  for (let step = 0; step < steps; step++) {
    const pass = lora.forwardBackward(batch(step), { name: 'cross_entropy' })
    await lora.optimStep({ learningRate: 0.002, beta1: 0.9, beta2: 0.95, eps: 1e-8 })
    losses.push(Number((await pass).metrics['loss:sum']))
  }
  const seconds = (performance.now() - began) / 1000
  await client.close()
  await trainer[Symbol.asyncDispose]()
  rmSync(dir, { recursive: true })
  return { seconds, first: losses[0] ?? Number.NaN, last: losses.at(-1) ?? Number.NaN }
}

/** Texts that count up from places that differ by step: something to learn, and no file to read. @param {number} step */
function batch(step) {
  return Array.from({ length: batchSize }, (_, row) => {
    const all = Int32Array.from({ length: length + 1 }, (_, at) => 300 + ((37 * step + 101 * row + at) % 1000))
    const weights = new Float32Array(length).fill(1 / (batchSize * length))
    return {
      tokens: all.slice(0, -1),
      lossInputs: {
        target_tokens: { data: all.slice(1), shape: [length] },
        weights: { data: weights, shape: [length] },
      },
    }
  })
}

/** @type {('native' | 'wasm')[]} */
const engines = (await findCompiler()) === undefined ? ['wasm'] : ['native', 'wasm']
const rows = []
for (const engine of engines) rows.push({ engine, limit: limits[engine], ...(await measure(engine)) })
console.log(
  `\nLoRA rank 8 on ${model}, ${steps} steps of ${batchSize} x ${length} tokens, Node ${process.versions.node}, ` +
    `${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}`,
)
printTable([
  ['kernels', 'seconds', 'limit', 'loss'],
  ...rows.map(({ engine, seconds, limit, first, last }) => [
    engine,
    seconds.toFixed(1),
    String(limit),
    `${first.toFixed(2)} to ${last.toFixed(2)}`,
  ]),
])
process.exitCode = rows.every(({ seconds, limit, first, last }) => seconds <= limit && last < first) ? 0 : 1
