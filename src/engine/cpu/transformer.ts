// The whole network as operations: embedding, layers, final norm, unembedding, and its gradient.
import { attentionShape, type BlockBackOptions, type BlockContext, blockBackward, blockForward } from './block.ts'
import type { CpuModel } from './cpu-model.ts'
import type { PassPlan } from './pass-plan.ts'
import type { Program } from './program.ts'
import { lowRank, lowRankBack } from './projection.ts'

const embedding = 'model.embed_tokens.weight'
const finalNorm = 'model.norm.weight'

/** Appends everything up to the last norm. */
export function transformerForward(program: Program, context: BlockContext, plan: PassPlan): void {
  const { spans, rows } = context
  const model = spans[0]?.model
  if (model === undefined) return
  const { hiddenSize: width, normEps: eps } = model.base.shape
  const { at: table, type } = model.weight(embedding)
  program.add('gatherRows', { y: plan.layers[0]?.x ?? plan.last, table, ids: plan.tokens, rows, width, type })
  for (const [layer, places] of plan.layers.entries()) {
    program.cut()
    blockForward(program, context, layer, places)
  }
  program.cut()
  const w = model.weight(finalNorm).at
  program.add('rmsNorm', { y: plan.normed, scale: plan.scaleLast, x: plan.last, w, rows, width, eps })
}

/** Attention within the texts of a packed batch. */
export function segmentAttention(
  { shape }: CpuModel['base'],
  { starts, segments }: { starts: number; segments: number },
): BlockContext['attend'] {
  return (program, _layer, { read: out, lse, q, k, v }) => {
    program.add('attention', { out, lse, q, k, v, starts, segments, ...attentionShape(shape) })
  }
}

type HeadOptions = Pick<BackwardOptions, 'model' | 'plan' | 'rows' | 'targets' | 'keepsLogits'> & { rank: number }

/** Appends the log-probabilities of the targets. */
export function headForward(program: Program, options: HeadOptions): void {
  const { model, plan, rows, targets, rank, keepsLogits: whole } = options
  const { normed: x, low, lse, ids, logprobs, work } = plan
  lowRank(program, { model, start: 0, rows }, { name: 'lm_head', x, low, lowWidth: rank })
  program.add('head', { logprobs, lse, ids, work, rows, targets, whole, ...headOperands({ model, plan, rank }) })
}

export type BackwardOptions = Omit<BlockBackOptions, 'reachesBelow' | 'starts' | 'positions' | 'back'> & {
  plan: PassPlan
  targets: number
  /** Whether the forward pass left all logits. */
  keepsLogits: boolean
  /** Of the forward pass, where the layers are to be computed again. */
  recompute?: BlockContext | undefined
}

/** Appends the gradient from `back.g`, the derivatives by the log-probabilities. */
export function transformerBackward(program: Program, options: BackwardOptions): void {
  const { model, gradientOf, plan, rows, targets, lowWidth, recompute } = options
  const { back, normed, lse, ids, work } = plan
  if (back === undefined) return
  const { hiddenSize, layers } = model.base.shape
  const adapter = model.adapter('lm_head')
  program.add('headBack', {
    dx: back.dNormed,
    dw: gradientOf(model.weightName('lm_head')),
    dx2: adapter && back.dLow,
    dw2: adapter && gradientOf(adapter.nameB),
    ...{ g: back.g, lse, ids, work, rows, targets, kept: true, whole: options.keepsLogits },
    ...headOperands({ model, plan, rank: lowWidth }),
  })
  const { depth, embeds } = reach(model)
  const reachesBelow = depth < layers || embeds
  const { dLow, dNormed } = back
  const dx = reachesBelow ? dNormed : undefined
  lowRankBack(program, model, gradientOf, { name: 'lm_head', x: normed, rows, lowWidth, dLow, dx })
  if (!reachesBelow) return
  const [w, dw] = [model.weight(finalNorm).at, gradientOf(finalNorm)]
  const norm = { x: plan.last, w, scale: plan.scaleLast, rows, width: hiddenSize }
  program.add('rmsNormBack', { dx: back.dx, dw, dy: dNormed, ...norm })
  const { starts, positions } = plan
  for (let layer = layers - 1; layer >= depth; layer--) {
    const places = plan.layers[layer]
    if (places === undefined) continue
    program.cut()
    if (recompute !== undefined) blockForward(program, recompute, layer, places, 'mixed')
    const isDeeper = layer > depth || embeds
    blockBackward(program, { ...options, back, starts, positions, reachesBelow: isDeeper }, layer, places)
  }
  const table = gradientOf(embedding)
  if (table !== undefined) {
    program.add('scatterAddRows', { y: table, x: back.dx, ids: plan.tokens, rows, width: hiddenSize })
  }
}

// The first layer that holds something trained; an adapter of the unembedding alone needs no layer.
function reach({ spec, base }: CpuModel): { depth: number; embeds: boolean } {
  const { lora } = spec
  if (lora === undefined) return { depth: 0, embeds: true }
  return { depth: lora.trainAttention || lora.trainMlp ? 0 : base.shape.layers, embeds: false }
}

function headOperands({ model, plan, rank }: { model: CpuModel; plan: PassPlan; rank: number }) {
  const { hiddenSize: width, vocabSize: vocab } = model.base.shape
  const { at: w, type: wType } = model.weight(model.weightName('lm_head'))
  const adapter = model.adapter('lm_head')
  const own = { x: plan.normed, w, width, vocab, wType }
  return adapter === undefined ? { ...own, rank: 0 } : { ...own, x2: plan.low, w2: adapter.b, rank }
}
