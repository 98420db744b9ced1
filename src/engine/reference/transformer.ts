// The whole network: embedding, layers, final norm, unembedding. Log-probabilities are computed row by row, so that
// `[position, vocabulary]` is never held.
import type { Breathe } from '../in-process-engine.ts'
import type { Parameters } from '../optimizer/adam-state.ts'
import { logSoftmax } from '../sampling/next-token.ts'
import type { KvCache } from './attention.ts'
import { type BlockTrace, blockBackward, blockForward, rmsNorm, rmsNormBack } from './block.ts'
import { project, projectBack, type ReferenceModel } from './reference-model.ts'

/** What the gradient of a text needs of its forward pass. */
export interface Trace {
  readonly tokens: ArrayLike<number>
  readonly blocks: readonly BlockTrace[]
  readonly last: Float64Array
  readonly normed: Float64Array
}

const embedding = 'model.embed_tokens.weight'
const finalNorm = 'model.norm.weight'

/** Runs tokens that stand at `start` and after; with caches, one per layer, those see what came before. */
export async function forward(
  model: ReferenceModel,
  tokens: ArrayLike<number>,
  options: { start?: number | undefined; caches?: readonly KvCache[] | undefined; breathe: Breathe },
): Promise<Trace> {
  const { start = 0, caches, breathe } = options
  const { hiddenSize, layers, normEps } = model.shape
  const rows = tokens.length
  const table = model.tensor(embedding)
  let x: Float64Array = new Float64Array(rows * hiddenSize)
  for (let t = 0; t < rows; t++) {
    const token = tokens[t] ?? 0
    x.set(table.subarray(token * hiddenSize, (token + 1) * hiddenSize), t * hiddenSize)
  }
  const blocks: BlockTrace[] = []
  for (let layer = 0; layer < layers; layer++) {
    const { y, trace } = blockForward(model, layer, x, { rows, start, cache: caches?.[layer] })
    blocks.push(trace)
    x = y
    await breathe(rows * layerWork(model))
  }
  return { tokens, blocks, last: x, normed: rmsNorm(x, model.tensor(finalNorm), normEps) }
}

/** Log-probabilities of every token after position `t` of a pass. */
export function logprobsAt(model: ReferenceModel, { normed }: Trace, t: number): Float64Array {
  const { hiddenSize } = model.shape
  return logSoftmax(project(model, 'lm_head', normed.subarray(t * hiddenSize, (t + 1) * hiddenSize), 1))
}

/** Derivatives of a loss by the log-probabilities of some tokens after one position. */
export type RowDerivatives = readonly { readonly token: number; readonly derivative: number }[]

/** Adds the gradient of a loss with these derivatives, one row per position of the text. */
export async function backward(
  model: ReferenceModel,
  gradients: Parameters,
  trace: Trace,
  rows: readonly RowDerivatives[],
  breathe: Breathe,
): Promise<void> {
  const { hiddenSize, layers, normEps, vocabSize } = model.shape
  const dNormed = new Float64Array(trace.normed.length)
  for (const [t, row] of rows.entries()) {
    if (row.every(({ derivative }) => derivative === 0)) continue
    const x_TI = trace.normed.subarray(t * hiddenSize, (t + 1) * hiddenSize)
    const dy_TO = logitGradient(logprobsAt(model, trace, t), row)
    dNormed.set(projectBack(model, gradients, 'lm_head', { x_TI, dy_TO, rows: 1 }), t * hiddenSize)
    await breathe(3 * vocabSize * hiddenSize)
  }
  let dx: Float64Array = rmsNormBack(trace.last, model.tensor(finalNorm), normEps, dNormed, gradients[finalNorm])
  for (let layer = layers - 1; layer >= 0; layer--) {
    const block = trace.blocks[layer]
    if (block !== undefined) dx = blockBackward(model, gradients, layer, block, dx)
    await breathe(2 * rows.length * layerWork(model))
  }
  const dTable = gradients[embedding]
  if (dTable === undefined) return
  for (let t = 0; t < rows.length; t++) {
    const at = (trace.tokens[t] ?? 0) * hiddenSize
    for (let i = 0; i < hiddenSize; i++) dTable[at + i] = (dTable[at + i] ?? 0) + (dx[t * hiddenSize + i] ?? 0)
  }
}

// d log p_k / d logit_v = [v = k] - p_v, summed over the tokens of the row.
function logitGradient(logprobs_V: Float64Array, row: RowDerivatives): Float64Array {
  const mass = row.reduce((sum, { derivative }) => sum + derivative, 0)
  const gradient_V = logprobs_V.map((logprob) => -mass * Math.exp(logprob))
  for (const { token, derivative } of row) gradient_V[token] = (gradient_V[token] ?? 0) + derivative
  return gradient_V
}

// Multiplications of one token in one layer.
function layerWork({ shape }: ReferenceModel): number {
  const { hiddenSize, intermediateSize, heads, kvHeads, headDim } = shape
  return hiddenSize * (2 * (heads + kvHeads) * headDim + 3 * intermediateSize)
}
