// One layer as operations: h = x + attention(norm(x)), out = h + feed-forward(norm(h)), and the gradient of both.
import type { ModelShape } from '../files/model-shape.ts'
import type { PackedWeights, RopeTables } from './cpu-base.ts'
import type { CpuModel } from './cpu-model.ts'
import type { BackPlaces, LayerPlaces, Projection } from './pass-plan.ts'
import type { Program } from './program.ts'
import { type GradientOf, lowRank, type ProjectBackOptions, project, projectBack, type Span } from './projection.ts'

export type BlockContext = {
  spans: readonly Span[]
  rows: number
  positions: number
  rope: RopeTables
  lowWidth: number
  packed?: PackedWeights | undefined
  /** What `attend` appends first takes rows of k from the thread that turned them: no barrier in between. */
  takesTurned?: boolean | undefined
  /** Appends what writes `read` from q, k and v of this layer. */
  attend: (program: Program, layer: number, places: LayerPlaces) => void
}

/** Appends a layer. `upTo: 'mixed'` leaves out the last product: all that the gradient needs is there. */
export function blockForward(
  program: Program,
  context: BlockContext,
  layer: number,
  places: LayerPlaces,
  upTo: 'out' | 'mixed' = 'out',
): void {
  const { spans, rows, positions, rope, lowWidth, packed } = context
  const model = spans[0]?.model
  if (model === undefined) return
  const { hiddenSize, intermediateSize, heads, kvHeads, headDim, normEps: eps, qkNorm } = model.base.shape
  const at = `model.layers.${layer}`
  const { x, h, out, normed, normedH, rawQ, rawK, q, k } = places
  const norm = (name: string, from: number, to: number, scale: number, count = rows, width = hiddenSize) => {
    const w = model.weight(`${at}.${name}.weight`).at
    program.add('rmsNorm', { y: to, scale, x: from, w, rows: count, width, eps })
  }
  const shared = { rows, lowWidth, packed }
  const apply = (name: Projection, from: number, to: number, more = {}) =>
    project(program, spans, { name: `${at}.${name}`, x: from, y: to, low: places.low[name], ...shared, ...more })

  norm('input_layernorm', x, normed, places.scaleX)
  apply('self_attn.q_proj', normed, rawQ, { independent: true })
  apply('self_attn.k_proj', normed, rawK, { independent: true })
  apply('self_attn.v_proj', normed, places.v)
  if (qkNorm) {
    norm('self_attn.q_norm', rawQ, q, places.scaleQ, rows * heads, headDim)
    norm('self_attn.k_norm', rawK, k, places.scaleK, rows * kvHeads, headDim)
  }
  const { cos, sin } = rope
  program.add('rope', { x: q, positions, cos, sin, rows, heads, headDim, ldx: heads * headDim }, { independent: true })
  program.add(
    'rope',
    { x: k, positions, cos, sin, rows, heads: kvHeads, headDim, ldx: kvHeads * headDim },
    { independent: context.takesTurned === true },
  )
  context.attend(program, layer, places)
  copy(program, h, x, rows, hiddenSize)
  apply('self_attn.o_proj', places.read, h, { accumulate: true })
  norm('post_attention_layernorm', h, normedH, places.scaleH)
  apply('mlp.gate_proj', normedH, places.gate, { independent: true })
  apply('mlp.up_proj', normedH, places.up)
  program.add('swiglu', { y: places.mixed, gate: places.gate, up: places.up, n: rows * intermediateSize })
  if (upTo === 'mixed') {
    const name: Projection = 'mlp.down_proj'
    for (const span of spans)
      lowRank(program, span, { name: `${at}.${name}`, x: places.mixed, low: places.low[name], lowWidth })
    return
  }
  copy(program, out, h, rows, hiddenSize)
  apply('mlp.down_proj', places.mixed, out, { accumulate: true })
}

export type BlockBackOptions = {
  model: CpuModel
  gradientOf: GradientOf
  rows: number
  lowWidth: number
  positions: number
  starts: number
  segments: number
  rope: RopeTables
  back: BackPlaces
  /** Whether anything before this layer is trained. */
  reachesBelow: boolean
}

/** Appends the gradient of a layer: `back.dx` holds that of its output, and that of its input afterwards. Uses gate and up up. */
export function blockBackward(program: Program, options: BlockBackOptions, layer: number, places: LayerPlaces): void {
  const { model, gradientOf, rows, lowWidth, positions, rope, starts, segments, back, reachesBelow } = options
  const { shape } = model.base
  const { hiddenSize, intermediateSize, heads, kvHeads, headDim } = shape
  const at = `model.layers.${layer}`
  const { dx, dNormed, dMixed, dq, dk, dv, dRead, dLow } = back
  const shared = { rows, lowWidth, dLow }
  const apply = (name: Projection, x: number, dy: number, more: Pick<ProjectBackOptions, 'dx' | 'accumulate'>) =>
    projectBack(program, model, gradientOf, { name: `${at}.${name}`, x, dy, low: places.low[name], ...shared, ...more })
  const normBack = (name: string, norm: { x: number; scale: number; dy: number; dx: number }, more = {}) => {
    const weight = `${at}.${name}.weight`
    const w = model.weight(weight).at
    program.add('rmsNormBack', { dw: gradientOf(weight), w, rows, width: hiddenSize, ...norm, ...more })
  }

  const { gate, up } = places
  apply('mlp.down_proj', places.mixed, dx, { dx: dMixed })
  program.add('swigluBack', { dGate: gate, dUp: up, dy: dMixed, gate, up, n: rows * intermediateSize })
  apply('mlp.gate_proj', places.normedH, gate, { dx: dNormed })
  apply('mlp.up_proj', places.normedH, up, { dx: dNormed, accumulate: true })
  normBack('post_attention_layernorm', { x: places.h, scale: places.scaleH, dy: dNormed, dx }, { accumulate: true })

  apply('self_attn.o_proj', places.read, dx, { dx: dRead })
  const { read: out, lse, q, k, v } = places
  const seen = { out, lse, q, k, v, starts, segments, ...attentionShape(shape) }
  program.add('attentionBack', { dq, dk, dv, dOut: dRead, work: back.work, ...seen })
  const turn = { positions, cos: rope.cos, sin: rope.sin, rows, headDim, inverse: true }
  program.add('rope', { x: dq, heads, ldx: heads * headDim, ...turn }, { independent: true })
  program.add('rope', { x: dk, heads: kvHeads, ldx: kvHeads * headDim, ...turn })
  if (shape.qkNorm) {
    const perHead = (count: number) => ({ rows: rows * count, width: headDim })
    normBack('self_attn.q_norm', { x: places.rawQ, scale: places.scaleQ, dy: dq, dx: dq }, perHead(heads))
    normBack('self_attn.k_norm', { x: places.rawK, scale: places.scaleK, dy: dk, dx: dk }, perHead(kvHeads))
  }
  const into = reachesBelow ? dNormed : undefined
  apply('self_attn.q_proj', places.normed, dq, { dx: into })
  apply('self_attn.k_proj', places.normed, dk, { dx: into, accumulate: true })
  apply('self_attn.v_proj', places.normed, dv, { dx: into, accumulate: true })
  if (reachesBelow)
    normBack('input_layernorm', { x: places.x, scale: places.scaleX, dy: dNormed, dx }, { accumulate: true })
}

/** Heads, their strides in dense rows, and the scale of scores. */
export function attentionShape({ heads, kvHeads, headDim }: Pick<ModelShape, 'heads' | 'kvHeads' | 'headDim'>) {
  const [ldq, ldk] = [heads * headDim, kvHeads * headDim]
  return { heads, kvHeads, headDim, ldq, ldk, ldv: ldk, scale: 1 / Math.sqrt(headDim) }
}

function copy(program: Program, y: number, x: number, rows: number, width: number): void {
  if (y !== x) program.add('copyRows', { y, x, rows, width, ldy: width, ldx: width })
}
