// Base weights in the arena, read once and shared by everything that is trained over them. Matrices that are stored as bfloat16 stay
// that: kernels widen them exactly. Whatever else is stored becomes float32.
import { type LoadOptions, readBaseModel } from '../files/base-model.ts'
import { type ModelShape, sizeOf, tensorShapes } from '../files/model-shape.ts'
import { rotationOf } from '../reference/rope.ts'
import { allocFor } from './alloc-for.ts'
import { type ElementType, packedBytes } from './ops.ts'
import { Program } from './program.ts'
import type { Runtime } from './runtime.ts'
import { aligned } from './tensor-layout.ts'

/** Where a tensor lies. */
export type Weight = { readonly at: number; readonly type: ElementType }

/** Tables of cosines and sines, `[positions, headDim / 2]` each. */
export type RopeTables = { readonly cos: number; readonly sin: number; readonly positions: number }

export class CpuBase {
  readonly runtime: Runtime
  readonly shape: ModelShape
  /** Of every matrix and vector, also of an unembedding that is tied to the embedding. */
  readonly shapes: ReadonlyMap<string, readonly number[]>
  #weights: ReadonlyMap<string, Weight>
  #block: number | undefined
  #rope: RopeTables | undefined
  #packed: PackedWeights | undefined

  constructor(runtime: Runtime, shape: ModelShape, weights: ReadonlyMap<string, Weight>, block: number) {
    this.runtime = runtime
    this.shape = shape
    this.shapes = tensorShapes({ ...shape, tiedEmbeddings: false })
    this.#weights = weights
    this.#block = block
  }

  /** Where the tensors lie; nowhere after they were given away. */
  get weights(): ReadonlyMap<string, Weight> {
    return this.#weights
  }

  /** Whether the weights are no longer those of the files: they have to be read again. */
  get isSpent(): boolean {
    return this.#block === undefined
  }

  /** Whether the tensors lie as those of a model that is trained do: float32 throughout. */
  get isPlain(): boolean {
    return [...this.#weights.values()].every(({ type }) => type === 'f32')
  }

  /** Gives the block of all tensors away where it can be trained as it is; the taker frees it. */
  take(): number | undefined {
    const block = this.#block
    if (block === undefined || !this.isPlain) return undefined
    this.#block = undefined
    this.drop()
    return block
  }

  /** Forgets the weights: nothing computes with them any more. */
  drop(): void {
    if (this.#block !== undefined) this.runtime.free(this.#block)
    this.#block = undefined
    this.#weights = new Map()
    this.#packed?.free()
    this.#packed = undefined
  }

  /** Number of outputs and of inputs of a projection. */
  axes(projection: string): { outputs: number; inputs: number } {
    const [outputs, inputs] = this.shapes.get(`${projection}.weight`) ?? []
    if (outputs === undefined || inputs === undefined) throw new Error(`the model has no projection ${projection}`)
    return { outputs, inputs }
  }

  /** Tables for texts of this length. Places of earlier ones are void afterwards. */
  rope(positions: number): RopeTables {
    if (this.#rope !== undefined && this.#rope.positions >= positions) return this.#rope
    const { headDim, maxPositions } = this.shape
    const rows = Math.min(maxPositions, Math.max(256, 2 ** Math.ceil(Math.log2(positions))))
    const half = headDim / 2
    const bytes = aligned(4 * rows * half)
    if (this.#rope !== undefined) this.runtime.free(this.#rope.cos)
    const cos = this.runtime.alloc(2 * bytes)
    const tables = { cos, sin: cos + bytes, positions: rows }
    const { frequencies, scale } = rotationOf(this.shape)
    const [cosines, sines] = [this.runtime.f32(tables.cos, rows * half), this.runtime.f32(tables.sin, rows * half)]
    for (let t = 0; t < rows; t++) {
      for (let i = 0; i < half; i++) {
        const angle = t * (frequencies[i] ?? 0)
        cosines[t * half + i] = scale * Math.cos(angle)
        sines[t * half + i] = scale * Math.sin(angle)
      }
    }
    this.#rope = tables
    return tables
  }

  /** The frozen matrices, packed; made when they are first asked for and kept. */
  get packed(): PackedWeights {
    this.#packed ??= new PackedWeights(this, (name) => {
      const weight = this.weights.get(name)
      if (weight === undefined) throw new Error(`the model has no tensor ${name}`)
      return weight
    })
    return this.#packed
  }

  free(): void {
    this.drop()
    if (this.#rope !== undefined) this.runtime.free(this.#rope.cos)
    this.#rope = undefined
  }
}

/** Reads the model in a folder into the arena. */
export async function loadCpuBase(runtime: Runtime, folder: string, options: LoadOptions): Promise<CpuBase> {
  const weights = new Map<string, Weight>()
  let block: number | undefined
  try {
    const shape = await readBaseModel(folder, options, (found, dtypes) => {
      const shapes = tensorShapes(found)
      const sizes = [...shapes].map(([name, axes]) => {
        const type: ElementType = axes.length > 1 && dtypes.get(name) === 'BF16' ? 'bf16' : 'f32'
        const length = sizeOf(axes)
        return { name, type, bytes: aligned((type === 'bf16' ? 2 : 4) * length) }
      })
      const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
      block = allocFor(runtime, total, 'the model', 'use a smaller one, or unload another.')
      let at = block
      for (const { name, type, bytes } of sizes) {
        weights.set(name, { at, type })
        at += bytes
      }
      return {
        room(name) {
          const weight = weights.get(name)
          const [size, dtype] = weight?.type === 'bf16' ? [2, 'BF16'] : [4, 'F32']
          const length = sizeOf(shapes.get(name) ?? [0])
          return weight === undefined || dtypes.get(name) !== dtype
            ? undefined
            : runtime.bytes(weight.at, size * length)
        },
        take(name, values) {
          const weight = weights.get(name)
          if (weight?.type === 'f32') runtime.f32(weight.at, values.length).set(values)
          else if (weight !== undefined) keepHalves(values, runtime.bytes(weight.at, 2 * values.length))
        },
      }
    })
    return new CpuBase(runtime, shape, weights, block ?? 0)
  } catch (error) {
    if (block !== undefined) runtime.free(block)
    throw error
  }
}

// Values that were stored as bfloat16: they are the upper halves of their float32, and nothing is left to round.
function keepHalves(values: Float64Array, target: Uint8Array): void {
  const bits = new Uint32Array(new Float32Array(values).buffer)
  const halves = new Uint16Array(target.buffer, target.byteOffset, values.length)
  for (let i = 0; i < halves.length; i++) halves[i] = (bits[i] ?? 0) >>> 16
}

// Matrices of a model as the kernels read them fastest when there are few rows, as in drawing samples: a second copy, for speed
// alone. A product with it has every bit of the product with the original.
export class PackedWeights {
  readonly #base: CpuBase
  readonly #block: number
  readonly #places = new Map<string, number>()

  /** Packs the matrices of all projections; `weightOf` says where each lies. */
  constructor(base: CpuBase, weightOf: (name: string) => Weight) {
    this.#base = base
    this.#block = base.runtime.alloc(packedSize(base, weightOf))
    const program = new Program()
    let dst = this.#block
    for (const { name, n, k } of matrices(base)) {
      const { at: b, type: bType } = weightOf(name)
      program.add('pack', { dst, b, n, k, ldb: k, transB: true, bType }, { independent: true })
      this.#places.set(name, dst)
      dst += aligned(packedBytes(n, k, bType))
    }
    base.runtime.run(program)
  }

  /** Where a matrix lies. */
  at(name: string): number | undefined {
    return this.#places.get(name)
  }

  free(): void {
    this.#base.runtime.free(this.#block)
  }
}

/** Bytes that the copy takes. */
export function packedSize(base: CpuBase, weightOf: (name: string) => Weight): number {
  return matrices(base).reduce((sum, { name, n, k }) => sum + aligned(packedBytes(n, k, weightOf(name).type)), 0)
}

function matrices({ shape, shapes }: CpuBase): { name: string; n: number; k: number }[] {
  const head = shape.tiedEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight'
  return [...shapes].flatMap(([name, [n = 0, k]]) =>
    k === undefined || (!name.endsWith('_proj.weight') && name !== head) ? [] : [{ name, n, k }],
  )
}
