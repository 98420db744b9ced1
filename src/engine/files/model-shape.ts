// What a `config.json` says about a model, in the terms that an engine computes with.

/** How positions turn into rotations of queries and keys. */
export type Rope = { readonly theta: number } & (
  | { readonly type: 'default' }
  | { readonly type: 'linear'; readonly factor: number }
  | {
      readonly type: 'llama3'
      readonly factor: number
      readonly lowFreqFactor: number
      readonly highFreqFactor: number
      readonly originalMaxPositions: number
    }
  | {
      readonly type: 'yarn'
      readonly factor: number
      readonly betaFast: number
      readonly betaSlow: number
      readonly originalMaxPositions: number
      /** Factor of the rotated queries and keys. */
      readonly attentionFactor: number
      readonly truncate: boolean
    }
)

/** A decoder of the Llama kind. */
export interface ModelShape {
  readonly family: 'llama' | 'qwen2' | 'qwen3'
  readonly vocabSize: number
  readonly hiddenSize: number
  readonly intermediateSize: number
  readonly layers: number
  readonly heads: number
  /** Each serves `heads / kvHeads` heads. */
  readonly kvHeads: number
  readonly headDim: number
  readonly normEps: number
  /** The unembedding is the embedding. */
  readonly tiedEmbeddings: boolean
  readonly qkvBias: boolean
  readonly outputBias: boolean
  readonly mlpBias: boolean
  /** Queries and keys are normalised per head before they are rotated. */
  readonly qkNorm: boolean
  readonly rope: Rope
  /** Longest text. */
  readonly maxPositions: number
  /** Tokens that end a text; empty where the model has none. */
  readonly eosTokens: readonly number[]
}

/** How many values a tensor of this shape has. */
export function sizeOf(axes: readonly number[]): number {
  return axes.reduce((product, axis) => product * axis, 1)
}

/** Every tensor of a model of this shape, by the name it has in its files. Matrices are `[out, in]`. */
export function tensorShapes(shape: ModelShape): ReadonlyMap<string, readonly number[]> {
  const { vocabSize, hiddenSize: hidden, intermediateSize: inner, heads, kvHeads, headDim } = shape
  const all = new Map<string, readonly number[]>([['model.embed_tokens.weight', [vocabSize, hidden]]])
  const linear = (name: string, outputs: number, inputs: number, hasBias: boolean) => {
    all.set(`${name}.weight`, [outputs, inputs])
    if (hasBias) all.set(`${name}.bias`, [outputs])
  }
  for (let layer = 0; layer < shape.layers; layer++) {
    const at = `model.layers.${layer}`
    all.set(`${at}.input_layernorm.weight`, [hidden])
    linear(`${at}.self_attn.q_proj`, heads * headDim, hidden, shape.qkvBias)
    linear(`${at}.self_attn.k_proj`, kvHeads * headDim, hidden, shape.qkvBias)
    linear(`${at}.self_attn.v_proj`, kvHeads * headDim, hidden, shape.qkvBias)
    linear(`${at}.self_attn.o_proj`, hidden, heads * headDim, shape.outputBias)
    if (shape.qkNorm) {
      all.set(`${at}.self_attn.q_norm.weight`, [headDim])
      all.set(`${at}.self_attn.k_norm.weight`, [headDim])
    }
    all.set(`${at}.post_attention_layernorm.weight`, [hidden])
    linear(`${at}.mlp.gate_proj`, inner, hidden, shape.mlpBias)
    linear(`${at}.mlp.up_proj`, inner, hidden, shape.mlpBias)
    linear(`${at}.mlp.down_proj`, hidden, inner, shape.mlpBias)
  }
  all.set('model.norm.weight', [hidden])
  if (!shape.tiedEmbeddings) all.set('lm_head.weight', [vocabSize, hidden])
  return all
}
