// The first weights of a bundled model: each tensor from its own key, so that a tensor does not change when others do.
import { keyedRandom } from '../../kernel/index.ts'
import { type BundledName, type BundledShape, bundledModels, initializerRange } from './bundled-models.ts'

type TensorShape = readonly [string, ...number[]]

/** model.safetensors of a bundled model, in bfloat16. */
export function bundledWeights(name: BundledName): Uint8Array {
  const tensors = tensorShapes(bundledModels[name]).toSorted(([a], [b]) => (a < b ? -1 : 1))
  let end = 0
  const entries = tensors.map(([tensor, ...shape]) => {
    const begin = end
    end += 2 * sizeOf(shape)
    return [tensor, { dtype: 'BF16', shape, data_offsets: [begin, end] }] as const
  })
  const header = JSON.stringify(Object.fromEntries([['__metadata__', { format: 'pt' }], ...entries]))
  const padded = Buffer.from(header.padEnd(Math.ceil(header.length / 8) * 8))
  const bytes = Buffer.alloc(8 + padded.length + end)
  bytes.writeBigUInt64LE(BigInt(padded.length))
  padded.copy(bytes, 8)
  for (const [tensor, { data_offsets }] of entries) fill(bytes, 8 + padded.length, data_offsets, [name, tensor])
  return bytes
}

/** Number of weights of a shape. */
export function countWeights(shape: BundledShape): number {
  return tensorShapes(shape).reduce((sum, [, ...sizes]) => sum + sizeOf(sizes), 0)
}

function fill(bytes: Buffer, base: number, [begin = 0, end = 0]: readonly number[], key: readonly string[]): void {
  const isNorm = key.at(-1)?.endsWith('norm.weight') === true
  const random = keyedRandom(0, 'weights', ...key)
  for (let at = begin; at < end; at += 2) {
    bytes.writeUInt16LE(bfloat16(isNorm ? 1 : initializerRange * random.normal()), base + at)
  }
}

const float = new Float32Array(1)
const bits = new Uint32Array(float.buffer)

// The nearest bfloat16, ties to even: the upper half of a float32. Weights are finite, so nothing overflows.
function bfloat16(value: number): number {
  float[0] = value
  const word = bits[0] ?? 0
  return (word + 0x7fff + ((word >>> 16) & 1)) >>> 16
}

function tensorShapes({
  vocabSize,
  hiddenSize,
  layers,
  heads,
  kvHeads,
  intermediateSize,
}: BundledShape): TensorShape[] {
  const kvSize = (hiddenSize / heads) * kvHeads
  const perLayer = (layer: number): TensorShape[] => [
    [`model.layers.${layer}.input_layernorm.weight`, hiddenSize],
    [`model.layers.${layer}.mlp.down_proj.weight`, hiddenSize, intermediateSize],
    [`model.layers.${layer}.mlp.gate_proj.weight`, intermediateSize, hiddenSize],
    [`model.layers.${layer}.mlp.up_proj.weight`, intermediateSize, hiddenSize],
    [`model.layers.${layer}.post_attention_layernorm.weight`, hiddenSize],
    [`model.layers.${layer}.self_attn.k_proj.weight`, kvSize, hiddenSize],
    [`model.layers.${layer}.self_attn.o_proj.weight`, hiddenSize, hiddenSize],
    [`model.layers.${layer}.self_attn.q_proj.weight`, hiddenSize, hiddenSize],
    [`model.layers.${layer}.self_attn.v_proj.weight`, kvSize, hiddenSize],
  ]
  const blocks = Array.from({ length: layers }, (_, layer) => perLayer(layer))
  return [['model.embed_tokens.weight', vocabSize, hiddenSize], ...blocks.flat(), ['model.norm.weight', hiddenSize]]
}

function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1)
}
