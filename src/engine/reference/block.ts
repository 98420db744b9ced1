// One layer: x + attention(norm(x)), then h + feed-forward(norm(h)). Axes: T position, D hidden, H head, I inner.
import type { Parameters } from '../optimizer/adam-state.ts'
import { attend, attendBack, type KvCache } from './attention.ts'
import { add } from './linear.ts'
import { project, projectBack, type ReferenceModel } from './reference-model.ts'
import { rotate } from './rope.ts'

/** What the gradient of a layer needs of its forward pass. */
export type BlockTrace = Readonly<
  Record<
    'x' | 'normed' | 'rawQ' | 'rawK' | 'q' | 'k' | 'v' | 'read' | 'h' | 'normedH' | 'gate' | 'up' | 'mixed',
    Float64Array
  >
>

/** Where the rows of a pass stand: at `start` and after, with `cache` holding what came before. */
type Span = { rows: number; start: number; cache?: KvCache | undefined }

/** The layer's output for rows `x`, and the trace of how it came about. */
export function blockForward(
  model: ReferenceModel,
  layer: number,
  x: Float64Array,
  { rows, start, cache }: Span,
): { y: Float64Array; trace: BlockTrace } {
  const { shape, rotation } = model
  const at = `model.layers.${layer}`
  const normed = rmsNorm(x, model.tensor(`${at}.input_layernorm.weight`), shape.normEps)
  const rawQ = project(model, `${at}.self_attn.q_proj`, normed, rows)
  const rawK = project(model, `${at}.self_attn.k_proj`, normed, rows)
  const v = project(model, `${at}.self_attn.v_proj`, normed, rows)
  const q = headNorm(model, `${at}.self_attn.q_norm.weight`, rawQ)
  const k = headNorm(model, `${at}.self_attn.k_norm.weight`, rawK)
  rotate(q, rows, start, rotation)
  rotate(k, rows, start, rotation)
  const seen = cache?.append(k, v) ?? { keys: k, values: v }
  const read = attend(q, seen.keys, seen.values, { rows, start, shape })
  const h = project(model, `${at}.self_attn.o_proj`, read, rows)
  add(h, x)
  const normedH = rmsNorm(h, model.tensor(`${at}.post_attention_layernorm.weight`), shape.normEps)
  const gate = project(model, `${at}.mlp.gate_proj`, normedH, rows)
  const up = project(model, `${at}.mlp.up_proj`, normedH, rows)
  const mixed = swiglu(gate, up)
  const y = project(model, `${at}.mlp.down_proj`, mixed, rows)
  add(y, h)
  return { y, trace: { x, normed, rawQ, rawK, q, k, v, read, h, normedH, gate, up, mixed } }
}

/** dx from dy, for a text that starts at position 0; adds to the gradients of what is trained. */
export function blockBackward(
  model: ReferenceModel,
  gradients: Parameters,
  layer: number,
  trace: BlockTrace,
  dy: Float64Array,
): Float64Array {
  const { shape, rotation } = model
  const rows = dy.length / shape.hiddenSize
  const at = `model.layers.${layer}`
  const back = (name: string, x_TI: Float64Array, dy_TO: Float64Array) =>
    projectBack(model, gradients, `${at}.${name}`, { x_TI, dy_TO, rows })
  const normBack = (name: string, x: Float64Array, dOut: Float64Array) =>
    rmsNormBack(x, model.tensor(`${at}.${name}`), shape.normEps, dOut, gradients[`${at}.${name}`])

  const { dGate, dUp } = swigluBack(trace.gate, trace.up, back('mlp.down_proj', trace.mixed, dy))
  const dNormedH = back('mlp.gate_proj', trace.normedH, dGate)
  add(dNormedH, back('mlp.up_proj', trace.normedH, dUp))
  const dh = normBack('post_attention_layernorm.weight', trace.h, dNormedH)
  add(dh, dy)

  const dRead = back('self_attn.o_proj', trace.read, dh)
  const { dq, dk, dv } = attendBack(trace.q, trace.k, trace.v, dRead, { rows, shape })
  rotate(dq, rows, 0, rotation, -1)
  rotate(dk, rows, 0, rotation, -1)
  const dRawQ = shape.qkNorm ? normBack('self_attn.q_norm.weight', trace.rawQ, dq) : dq
  const dRawK = shape.qkNorm ? normBack('self_attn.k_norm.weight', trace.rawK, dk) : dk
  const dNormed = back('self_attn.q_proj', trace.normed, dRawQ)
  add(dNormed, back('self_attn.k_proj', trace.normed, dRawK))
  add(dNormed, back('self_attn.v_proj', trace.normed, dv))
  const dx = normBack('input_layernorm.weight', trace.x, dNormed)
  add(dx, dh)
  return dx
}

// A copy in any case: what is rotated next must leave the trace as it is.
function headNorm(model: ReferenceModel, name: string, raw: Float64Array): Float64Array {
  return model.shape.qkNorm ? rmsNorm(raw, model.tensor(name), model.shape.normEps) : raw.slice()
}

// The gate of the feed-forward part (Shazeer 2020): silu(gate) * up, silu(x) = x sigmoid(x).
function swiglu(gate: Float64Array, up: Float64Array): Float64Array {
  return gate.map((g, i) => g * sigmoid(g) * (up[i] ?? 0))
}

/** Gradients by gate and up. silu'(x) = s (1 + x (1 - s)) with s = sigmoid(x). */
function swigluBack(gate: Float64Array, up: Float64Array, dOut: Float64Array) {
  return {
    dGate: gate.map((g, i) => {
      const s = sigmoid(g)
      return (dOut[i] ?? 0) * (up[i] ?? 0) * s * (1 + g * (1 - s))
    }),
    dUp: gate.map((g, i) => (dOut[i] ?? 0) * g * sigmoid(g)),
  }
}

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x))
}

// Root mean square normalisation (Zhang and Sennrich 2019): y = w x / sqrt(mean(x^2) + eps), row by row.
/** Normalises each row, of the weight's length. */
export function rmsNorm(x: Float64Array, w_D: Float64Array, eps: number): Float64Array {
  const y = new Float64Array(x.length)
  const size = w_D.length
  for (let at = 0; at < x.length; at += size) {
    const scale = inverseRms(x, at, size, eps)
    for (let i = 0; i < size; i++) y[at + i] = (w_D[i] ?? 0) * (x[at + i] ?? 0) * scale
  }
  return y
}

/** dx from dy; adds to dw where there is one. With s = 1 / rms: dx = s w dy - x s^3 / n * sum(x w dy). */
export function rmsNormBack(
  x: Float64Array,
  w_D: Float64Array,
  eps: number,
  dy: Float64Array,
  dw_D: Float64Array | undefined,
): Float64Array {
  const dx = new Float64Array(x.length)
  const size = w_D.length
  for (let at = 0; at < x.length; at += size) {
    const scale = inverseRms(x, at, size, eps)
    let sum = 0
    for (let i = 0; i < size; i++) sum += (x[at + i] ?? 0) * (w_D[i] ?? 0) * (dy[at + i] ?? 0)
    const pull = (sum * scale * scale * scale) / size
    for (let i = 0; i < size; i++) {
      dx[at + i] = scale * (w_D[i] ?? 0) * (dy[at + i] ?? 0) - pull * (x[at + i] ?? 0)
      if (dw_D !== undefined) dw_D[i] = (dw_D[i] ?? 0) + (dy[at + i] ?? 0) * (x[at + i] ?? 0) * scale
    }
  }
  return dx
}

function inverseRms(x: Float64Array, at: number, size: number, eps: number): number {
  let sum = 0
  for (let i = 0; i < size; i++) sum += (x[at + i] ?? 0) * (x[at + i] ?? 0)
  return 1 / Math.sqrt(sum / size + eps)
}
