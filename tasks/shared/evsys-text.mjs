// The API of tasks about text, for candidates that train a model of the embedded engine on bytes.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  dataFolder,
  isDryRun,
  keyedRandom,
  openEngine,
  phase,
  saveCheckpoint,
  secondsLeft,
  seed,
} from './evsys-task.mjs'

export * from './evsys-task.mjs'

/** Bytes at the end of the training text that `evaluate` keeps for itself. */
const heldOut = 8192
const text = phase === 'train' ? readFileSync(join(dataFolder, 'text.bin')) : Buffer.alloc(0)

/**
 * A model over bytes with fresh weights. `step(windows, { learningRate, beta1, beta2, eps, weightDecay, gradClipNorm })` trains it,
 * `measure(windows)` gives `{ nats, count }`.
 * @param {{ family?: 'llama' | 'qwen3', layers: number, hidden_size: number, intermediate_size: number, heads: number, kv_heads?: number,
 *   context?: number, rope_theta?: number, tied?: boolean }} shape
 * @param {{ spread?: number }} [options]
 */
export async function createModel(shape, { spread = 0.02 } = {}) {
  const { createLanguageModel } = await openEngine()
  return await createLanguageModel(shape, { seed, spread })
}

/**
 * Batches of windows from random places until the seconds are used up.
 * @param {{ batchSize: number, length: number }} options `length`: bytes that are predicted in a window
 * @returns {Generator<Uint8Array[]>}
 */
export function* getTrainLoader({ batchSize, length }) {
  const random = keyedRandom('windows')
  const places = text.length - heldOut - length - 1
  for (let step = 0; secondsLeft() > 0 && !(isDryRun && step >= 2); step++) {
    yield Array.from({ length: batchSize }, () => {
      const from = random.int(places)
      return text.subarray(from, from + length + 1)
    })
  }
}

/**
 * Bits per byte on the end of the training text, which the loader never gives: for decisions of the candidate.
 * @param {{ measure(windows: Uint8Array[]): Promise<{ nats: number, count: number }> }} model
 */
export async function evaluate(model) {
  const windows = []
  for (let at = text.length - heldOut; at + 129 <= text.length; at += 129) windows.push(text.subarray(at, at + 129))
  const { nats, count } = await model.measure(windows)
  return nats / Math.LN2 / count
}

/**
 * Keeps a model of the embedded engine: the scorer runs it.
 * @param {{ save(): Promise<Uint8Array> }} model
 */
export async function saveModel(model) {
  saveCheckpoint(await model.save(), 'model.evsys')
}
