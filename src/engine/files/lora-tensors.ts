// The tensors of an adapter, by the names that PEFT gives them. A is `[rank, in]`, B is `[out, rank]`.
import type { LoraSpec } from '../../contracts/index.ts'
import { type ModelShape, tensorShapes } from './model-shape.ts'

const attention = ['q_proj', 'k_proj', 'v_proj', 'o_proj']
const mlp = ['gate_proj', 'up_proj', 'down_proj']
const unembedding = ['lm_head']

/** The last parts of the names of all projections that an adapter trains. */
export function targetModules({ trainAttention, trainMlp, trainUnembedding }: LoraSpec): string[] {
  return [...(trainAttention ? attention : []), ...(trainMlp ? mlp : []), ...(trainUnembedding ? unembedding : [])]
}

/** Name of an adapter's matrix for a projection: `model.layers.0.mlp.up_proj`, `lm_head`. */
export function adapterName(projection: string, matrix: 'A' | 'B'): string {
  return `base_model.model.${projection}.lora_${matrix}.weight`
}

/** Shapes of all tensors of an adapter. */
export function adapterShapes(shape: ModelShape, lora: LoraSpec): ReadonlyMap<string, readonly number[]> {
  const targets = targetModules(lora)
  const all = new Map<string, readonly number[]>()
  // An adapter of the unembedding leaves a tied embedding as it is.
  for (const [name, [outputs = 0, inputs = 0]] of tensorShapes({ ...shape, tiedEmbeddings: false })) {
    const projection = name.replace(/\.weight$/, '')
    if (projection === name || !targets.includes(projection.split('.').at(-1) ?? '')) continue
    all.set(adapterName(projection, 'A'), [lora.rank, inputs])
    all.set(adapterName(projection, 'B'), [outputs, lora.rank])
  }
  return all
}
