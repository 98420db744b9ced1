// Byte-level language models on the embedded engine: what candidates in Node train, and what scorers run a checkpoint with. It is
// imported by its path, inside a sandbox as well as outside.
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import type { Datum, EngineOp, EngineResult } from '../../../contracts/index.ts'
import { loadCpuEngine, writeUntrained } from '../../../engine/index.ts'

const size = z.int().min(1).max(4096)

/** Shape of a model over bytes. Bounded: a checkpoint of a candidate is run by the scorer. */
const ModelSize = z.strictObject({
  family: z.enum(['llama', 'qwen3']).default('llama'),
  layers: z.int().min(1).max(32),
  hidden_size: size,
  intermediate_size: size,
  heads: z.int().min(1).max(64),
  kv_heads: z.int().min(1).max(64).optional(),
  context: z.int().min(8).max(4096).default(256),
  rope_theta: z.number().positive().default(10_000),
  tied: z.boolean().default(true),
})
export type ModelSize = z.input<typeof ModelSize>

export interface StepOptions {
  readonly learningRate: number
  readonly beta1?: number | undefined
  readonly beta2?: number | undefined
  readonly eps?: number | undefined
  readonly weightDecay?: number | undefined
  readonly gradClipNorm?: number | undefined
}

export interface LanguageModel extends AsyncDisposable {
  readonly parameters: number
  /** One step of AdamW on windows of bytes: every byte but the first of a window is predicted. Returns the mean loss in nats. */
  step(windows: readonly Uint8Array[], options: StepOptions): Promise<number>
  /** Sum of the loss over bytes from the index `from` of each window on, in nats, that of each window, and the number of bytes. */
  measure(
    windows: readonly Uint8Array[],
    options?: { from?: number | undefined },
  ): Promise<{ nats: number; each: readonly number[]; count: number }>
  /** Shape and weights as bytes. */
  save(): Promise<Uint8Array>
}

/** A fresh model with weights from a seed. */
export async function createLanguageModel(
  shape: ModelSize,
  { seed, spread = 0.02 }: { readonly seed: number; readonly spread?: number | undefined },
): Promise<LanguageModel> {
  return await open(ModelSize.parse(shape), { seed, spread })
}

/** The model in bytes that may hold anything. */
export async function loadLanguageModel(bytes: Uint8Array): Promise<LanguageModel> {
  const end = bytes.indexOf(10)
  if (end === -1 || end > 4096) throw new Error('these bytes are no model of the embedded engine')
  const shape = ModelSize.parse(JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))))
  const weights = bytes.subarray(end + 1)
  const least = 8 * leastParameters(shape)
  if (weights.length < least)
    throw new Error(`a model of this shape has at least ${least} bytes of weights, and there are ${weights.length}`)
  return await open(shape, { seed: 0, spread: 0 }, weights)
}

const baseModel = 'base'
const model = 'model'

async function open(
  shape: z.output<typeof ModelSize>,
  start: { seed: number; spread: number },
  weights?: Uint8Array,
): Promise<LanguageModel> {
  const folder = await mkdtemp(join(tmpdir(), 'evsys-model-'))
  const parameters = await writeUntrained(folder, configOf(shape), start)
  const { openCpuEngine } = await loadCpuEngine()
  const { EVSYS_ENGINE_CACHE, EVSYS_THREADS } = process.env
  const engine = await openCpuEngine({
    resolve: async () => ({ folder }),
    cacheFolder: EVSYS_ENGINE_CACHE ?? folder,
    threads: Math.max(1, Math.min(Number(EVSYS_THREADS ?? 1), availableParallelism())),
    capacityBytes: arenaBytes,
    measures: false,
    // Without a cache there are no kernels to load, and none are compiled where a candidate trains.
    kind: EVSYS_ENGINE_CACHE === undefined ? 'wasm' : undefined,
  })
  const never = new AbortController().signal
  const run = async (op: EngineOp) => await engine.run(op, never)
  await run({ op: 'create', model, baseModel })
  if (weights !== undefined) await run({ op: 'import', model, bytes: weights, optimizer: false })
  await rm(folder, { recursive: true, force: true })
  const loss = { name: 'cross_entropy' }
  return {
    parameters,
    async step(windows, options) {
      const data = windows.map((window) => datumOf(window, 1, 1 / Math.max(1, window.length - 1) / windows.length))
      const result = await run({ op: 'forward_backward', model, data, loss })
      const { learningRate, beta1 = 0.9, beta2 = 0.95, eps = 1e-8, weightDecay, gradClipNorm } = options
      const adam = { learningRate, beta1, beta2, eps, weightDecay, gradClipNorm }
      await run({ op: 'optim_step', model, adam })
      return sumOf(result)
    },
    async measure(windows, { from = 1 } = {}) {
      const first = Math.max(1, from)
      const each: number[] = []
      // A few at a time: every byte is asked for at every place.
      for (let at = 0; at < windows.length; at += 8) {
        const part = windows.slice(at, at + 8)
        const result = await run({ op: 'forward', model, data: part.map(everyByte), loss })
        const outputs = 'fwdBwd' in result ? result.fwdBwd.outputs : []
        for (const [i, window] of part.entries()) each.push(surpriseOf(window, outputs[i]?.logprobs?.data, first))
      }
      const count = windows.reduce((sum, window) => sum + Math.max(0, window.length - first), 0)
      return { nats: each.reduce((sum, one) => sum + one, 0), each, count }
    },
    async save() {
      const result = await run({ op: 'export', model })
      if (!('bytes' in result)) throw new Error('the engine gave no weights')
      const head = Buffer.from(`${JSON.stringify(shape)}\n`)
      return Buffer.concat([head, result.bytes])
    },
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]()
    },
  }
}

// Embedding and the matrices of every layer, each value in 8 bytes: a shape that is claimed without weights is never made room for.
function leastParameters({ layers, hidden_size, intermediate_size }: z.output<typeof ModelSize>): number {
  return hidden_size * (256 + 3 * layers * intermediate_size)
}

/** Room for weights, moments and one pass of a model that trains in a minute. */
const arenaBytes = 2 ** 30

function configOf(shape: z.output<typeof ModelSize>): Record<string, unknown> {
  return {
    model_type: shape.family,
    vocab_size: 256,
    hidden_size: shape.hidden_size,
    intermediate_size: shape.intermediate_size,
    num_hidden_layers: shape.layers,
    num_attention_heads: shape.heads,
    num_key_value_heads: shape.kv_heads ?? shape.heads,
    head_dim: Math.max(2, 2 * Math.floor(shape.hidden_size / shape.heads / 2)),
    max_position_embeddings: shape.context,
    rope_theta: shape.rope_theta,
    tie_word_embeddings: shape.tied,
  }
}

function datumOf(window: Uint8Array, from: number, weight: number): Datum {
  const length = window.length - 1
  const weights = new Float32Array(length)
  for (let i = Math.max(0, from - 1); i < length; i++) weights[i] = weight
  return {
    tokens: Int32Array.from(window.subarray(0, length)),
    lossInputs: {
      target_tokens: { data: Int32Array.from(window.subarray(1)), shape: [length] },
      weights: { data: weights, shape: [length] },
    },
  }
}

const bytes = 256
const allBytes = Int32Array.from({ length: bytes }, (_, byte) => byte)

function everyByte(window: Uint8Array): Datum {
  const length = window.length - 1
  const targets = new Int32Array(length * bytes)
  for (let i = 0; i < length; i++) targets.set(allBytes, i * bytes)
  return {
    tokens: Int32Array.from(window.subarray(0, length)),
    lossInputs: {
      target_tokens: { data: targets, shape: [length, bytes] },
      weights: { data: new Float32Array(length * bytes).fill(1), shape: [length, bytes] },
    },
  }
}

// Normalised here, in double precision: a checkpoint may hold weights whose logits are so large that in single precision every byte
// seems to be certain. Whatever a model says is a distribution then.
function surpriseOf(window: Uint8Array, logprobs: ArrayLike<number> = [], from: number): number {
  let nats = 0
  for (let at = from; at < window.length; at++) {
    const row = (at - 1) * bytes
    let top = Number.NEGATIVE_INFINITY
    for (let byte = 0; byte < bytes; byte++) top = Math.max(top, logprobs[row + byte] ?? Number.NaN)
    let total = 0
    for (let byte = 0; byte < bytes; byte++) total += Math.exp((logprobs[row + byte] ?? Number.NaN) - top)
    nats += Math.log(total) - ((logprobs[row + (window[at] ?? 0)] ?? Number.NaN) - top)
  }
  return nats
}

function sumOf(result: EngineResult): number {
  if (!('fwdBwd' in result)) throw new Error('the engine gave no loss')
  return result.fwdBwd.metrics['loss:sum'] ?? Number.NaN
}
