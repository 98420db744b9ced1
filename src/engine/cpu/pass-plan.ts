// Where everything lies that a pass computes, from one place in the arena on. The same function gives the size, with place 0, and
// the places. Axes: T rows, D hidden, H heads x headDim, G kvHeads x headDim, I inner, R rank.
import type { ModelShape } from '../files/model-shape.ts'
import { headWork } from './ops.ts'
import { aligned } from './tensor-layout.ts'

/** Names of a layer's projections, by the last part of their path. */
export const projections = [
  'self_attn.q_proj',
  'self_attn.k_proj',
  'self_attn.v_proj',
  'self_attn.o_proj',
  'mlp.gate_proj',
  'mlp.up_proj',
  'mlp.down_proj',
] as const
export type Projection = (typeof projections)[number]

/** Where a pass keeps what it computes; `back` is absent in a pass without gradient. */
export type PassPlan = ReturnType<typeof planPass>
/** What one layer computes. Where queries are not normalised, `rawQ` is `q`. */
export type LayerPlaces = PassPlan['layers'][number]
export type BackPlaces = NonNullable<PassPlan['back']>

export type PassSize = {
  shape: ModelShape
  rows: number
  segments: number
  /** Targets per row. */
  targets: number
  /** 0: no adapter. */
  rank: number
  /** `forward` keeps nothing; `keep` keeps what the gradient needs; `recompute` only the inputs of the layers. */
  mode: 'forward' | 'keep' | 'recompute'
  /** Whether all logits stay for the gradient. */
  keepsLogits?: boolean | undefined
}

/** The plan of a pass that starts at a place. */
export function planPass(size: PassSize, start: number) {
  const { shape, rows, segments, targets, rank, mode, keepsLogits = false } = size
  const { hiddenSize: hidden, intermediateSize: inner, heads, kvHeads, headDim, layers } = shape
  const [queries, keys] = [heads * headDim, kvHeads * headDim]
  let at = start
  const take = (width: number, count = rows): number => {
    const place = at
    at += aligned(4 * width * count)
    return place
  }
  const layerPlaces = (x: number, out: number) => {
    const [q, k] = [take(queries), take(keys)]
    const raw = () => ({ rawQ: take(queries), rawK: take(keys), scaleQ: take(heads), scaleK: take(kvHeads) })
    return {
      x,
      out,
      h: mode === 'forward' ? x : take(hidden),
      scaleX: take(1),
      scaleH: take(1),
      normed: take(hidden),
      normedH: take(hidden),
      q,
      k,
      v: take(keys),
      read: take(queries),
      lse: take(heads),
      ...(shape.qkNorm ? raw() : { rawQ: q, rawK: k, scaleQ: q, scaleK: k }),
      gate: take(inner),
      up: take(inner),
      mixed: take(inner),
      low: Object.fromEntries(projections.map((name) => [name, take(rank)])) as Record<Projection, number>, // all of them
    }
  }
  const backPlaces = () => ({
    g: take(targets),
    dx: take(hidden),
    dNormed: take(hidden),
    dMixed: take(inner),
    dLow: take(rank),
    dq: take(queries),
    dk: take(keys),
    dv: take(keys),
    dRead: take(queries),
    work: take(heads),
  })
  const [tokens, positions, starts] = [take(1), take(1), take(1, segments + 1)]
  const first = take(hidden)
  const inputs = Array.from({ length: layers + 1 }, (_, layer) =>
    layer === 0 || mode === 'forward' ? first : take(hidden),
  )
  const shared = mode === 'keep' ? undefined : layerPlaces(first, first)
  return {
    tokens,
    positions,
    starts,
    layers: Array.from({ length: layers }, (_, layer) => {
      const [x = first, out = first] = [inputs[layer], inputs[layer + 1]]
      return shared === undefined ? layerPlaces(x, out) : { ...shared, x, out, h: mode === 'forward' ? x : shared.h }
    }),
    last: inputs[layers] ?? first,
    scaleLast: take(1),
    normed: take(hidden),
    low: take(rank), // of the unembedding's adapter
    ids: take(targets),
    logprobs: take(targets),
    lse: take(1),
    work: take(targets === 0 ? 0 : headWork(rows, shape.vocabSize, keepsLogits), 1),
    back: mode === 'forward' ? undefined : backPlaces(),
    end: at,
  }
}
