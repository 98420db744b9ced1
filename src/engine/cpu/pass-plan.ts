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

/** What one layer computes. Where queries are not normalised, `rawQ` is `q`. */
export type LayerPlaces = {
  readonly [K in
    | 'x' // T D
    | 'scaleX' // T
    | 'normed' // T D
    | 'rawQ' // T H
    | 'rawK' // T G
    | 'scaleQ' // T heads
    | 'scaleK' // T kvHeads
    | 'q'
    | 'k'
    | 'v'
    | 'read' // T H
    | 'lse' // T heads
    | 'h' // T D
    | 'scaleH'
    | 'normedH'
    | 'gate' // T I
    | 'up'
    | 'mixed'
    | 'out']: number // T D; the x of the next layer
} & { readonly low: Readonly<Record<Projection, number>> } // T R

export type PassPlan = {
  readonly end: number
  readonly tokens: number
  readonly positions: number
  readonly starts: number
  readonly layers: readonly LayerPlaces[]
  readonly last: number
  readonly scaleLast: number
  readonly normed: number
  /** Of the unembedding's adapter. */
  readonly low: number
  readonly ids: number
  readonly logprobs: number
  readonly lse: number
  readonly work: number
  /** Absent in a pass without gradient. */
  readonly back?: BackPlaces | undefined
}

export type BackPlaces = {
  readonly [K in 'g' | 'dx' | 'dNormed' | 'dq' | 'dk' | 'dv' | 'dRead' | 'dMixed' | 'dLow' | 'work']: number
}

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
export function planPass(size: PassSize, start: number): PassPlan {
  const { shape, rows, segments, targets, rank, mode, keepsLogits = false } = size
  const { hiddenSize: hidden, intermediateSize: inner, heads, kvHeads, headDim, layers } = shape
  const [queries, keys] = [heads * headDim, kvHeads * headDim]
  let at = start
  const take = (width: number, count = rows): number => {
    const place = at
    at += aligned(4 * width * count)
    return place
  }
  const layerPlaces = (x: number, out: number): LayerPlaces => {
    const [q, k] = [take(queries), take(keys)]
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
      ...(shape.qkNorm
        ? { rawQ: take(queries), rawK: take(keys), scaleQ: take(heads), scaleK: take(kvHeads) }
        : { rawQ: q, rawK: k, scaleQ: q, scaleK: k }),
      gate: take(inner),
      up: take(inner),
      mixed: take(inner),
      low: Object.fromEntries(projections.map((name) => [name, take(rank)])) as Record<Projection, number>, // all of them
    }
  }
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
    low: take(rank),
    ids: take(targets),
    logprobs: take(targets),
    lse: take(1),
    work: take(targets === 0 ? 0 : headWork(rows, shape.vocabSize, keepsLogits), 1),
    ...(mode === 'forward'
      ? {}
      : {
          back: {
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
          },
        }),
    end: at,
  }
}
