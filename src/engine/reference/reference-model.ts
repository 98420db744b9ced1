// A model in training: base weights, and either an adapter over them or a copy of them that is trained whole.
import type { BaseModel } from '../files/base-model.ts'
import { adapterName, adapterShapes } from '../files/lora-tensors.ts'
import { type ModelShape, tensorShapes } from '../files/model-shape.ts'
import { initialAdapter } from '../initial-adapter.ts'
import { loraAlpha } from '../lora-spec.ts'
import type { ModelSpec } from '../model-spec.ts'
import type { Parameters } from '../optimizer/adam-state.ts'
import { type Rotation, rotationOf } from './rope.ts'

/** Low-rank part of a projection: y += scale (x A^T) B^T. */
export interface Adapter {
  readonly nameA: string
  readonly nameB: string
  readonly a_RI: Float64Array
  readonly b_OR: Float64Array
  readonly scale: number
}

export class ReferenceModel {
  readonly spec: ModelSpec
  readonly shape: ModelShape
  readonly rotation: Rotation
  /** Shape of everything that is trained, by name. */
  readonly trained: ReadonlyMap<string, readonly number[]>
  readonly #base: BaseModel
  #parameters: Parameters
  #isOwn: boolean

  constructor(spec: ModelSpec, base: BaseModel) {
    this.spec = spec
    this.shape = base.shape
    this.rotation = rotationOf(base.shape)
    this.#base = base
    if (spec.lora === undefined) {
      this.trained = tensorShapes(base.shape)
      this.#parameters = Object.fromEntries(base.tensors)
      this.#isOwn = false // the base's own tensors, until they are written to
    } else {
      this.trained = adapterShapes(base.shape, spec.lora)
      const { seed } = spec.lora
      this.#parameters = Object.fromEntries(
        [...this.trained].map(([name, axes]) => [name, initialAdapter(name, axes, seed)]),
      )
      this.#isOwn = true
    }
  }

  /** What is trained. Not to be written to: see `writable`. */
  get parameters(): Parameters {
    return this.#parameters
  }

  /** The same, to be written to. */
  writable(): Parameters {
    if (!this.#isOwn) {
      this.#parameters = Object.fromEntries(
        Object.entries(this.#parameters).map(([name, each]) => [name, each.slice()]),
      )
      this.#isOwn = true
    }
    return this.#parameters
  }

  /** A tensor of the base, as training has left it. */
  tensor(name: string): Float64Array {
    const found = (this.spec.lora === undefined ? this.#parameters[name] : undefined) ?? this.#base.tensors.get(name)
    if (found === undefined) throw new Error(`the model has no tensor ${name}`)
    return found
  }

  /** Where the weight of a projection is kept: a tied unembedding is the embedding. */
  weightName(projection: string): string {
    if (projection === 'lm_head' && this.shape.tiedEmbeddings) return 'model.embed_tokens.weight'
    return `${projection}.weight`
  }

  adapter(projection: string): Adapter | undefined {
    const [nameA, nameB] = [adapterName(projection, 'A'), adapterName(projection, 'B')]
    const [a_RI, b_OR] = [this.#parameters[nameA], this.#parameters[nameB]]
    if (this.spec.lora === undefined || a_RI === undefined || b_OR === undefined) return undefined
    return { nameA, nameB, a_RI, b_OR, scale: loraAlpha / this.spec.lora.rank }
  }

  /** Zeros for the gradient of everything that is trained. */
  zeroGradients(): Parameters {
    return Object.fromEntries(
      Object.entries(this.#parameters).map(([name, { length }]) => [name, new Float64Array(length)]),
    )
  }
}
