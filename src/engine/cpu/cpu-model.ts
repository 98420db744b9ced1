// A model in training: base weights, and either an adapter over them or a copy of them that is trained whole; its gradients and
// its optimiser. All that is trained lies in one block, gradients and moments in blocks of the same layout.
import type { Adam, Metrics } from '../../contracts/index.ts'
import { type Checkpoint, type CheckpointTensor, encodeCheckpoint } from '../files/checkpoint.ts'
import { decodeFloats } from '../files/float-codec.ts'
import { sizeOf, tensorShapes } from '../files/model-shape.ts'
import { checkHolds, checkTensors, initialAdapter, loraAlpha, type ModelSpec } from '../files/model-spec.ts'
import { adapterName, adapterShapes } from '../files/model-weights.ts'
import { power } from '../optimizer/adam-state.ts'
import { allocFor } from './alloc-for.ts'
import { type CpuBase, PackedWeights, type Weight } from './cpu-base.ts'
import { Program } from './program.ts'
import type { Runtime } from './runtime.ts'
import { TensorLayout } from './tensor-layout.ts'

/** Low-rank part of a projection: y += (scale x A^T) B^T. */
export type Adapter = {
  readonly a: number
  readonly b: number
  readonly nameA: string
  readonly nameB: string
  readonly rank: number
  readonly scale: number
}

export class CpuModel {
  readonly spec: ModelSpec
  readonly base: CpuBase
  /** Shape of everything that is trained, by name. */
  readonly trained: ReadonlyMap<string, readonly number[]>
  readonly layout: TensorLayout
  // Undefined: the base's own tensors, until they are written to.
  #parameters: number | undefined
  // Each is made when it is first needed: a model that only answers has none of them.
  #gradients: { readonly at: number; isFilled: boolean } | undefined
  #adam: { step: number; readonly first: number; readonly second: number } | undefined
  // Room for what the first step will need, taken before the first pass: otherwise it would lie where passes do, and the next
  // pass would have to go beyond it.
  #reserved: number[] = []
  #packed: PackedWeights | undefined
  #isTorn = false

  constructor(spec: ModelSpec, base: CpuBase) {
    this.spec = spec
    this.base = base
    const { lora } = spec
    this.trained = lora === undefined ? tensorShapes(base.shape) : adapterShapes(base.shape, lora)
    this.layout = new TensorLayout(this.trained)
    if (lora === undefined) return
    this.#parameters = this.#zeros()
    for (const [name, axes] of this.trained)
      this.#view(this.#parameters, name).set(initialAdapter(name, axes, lora.seed))
  }

  /** A tensor of the base, as training has left it. */
  weight(name: string): Weight {
    const offset = this.spec.lora === undefined ? this.layout.offset(name) : undefined
    const found =
      offset === undefined || this.#parameters === undefined
        ? this.base.weights.get(name)
        : ({ at: this.#parameters + offset, type: 'f32' } as const)
    if (found === undefined) throw new Error(`the model has no tensor ${name}`)
    return found
  }

  /** Where the weight of a projection is kept: a tied unembedding is the embedding. */
  weightName(projection: string): string {
    if (projection === 'lm_head' && this.base.shape.tiedEmbeddings) return 'model.embed_tokens.weight'
    return `${projection}.weight`
  }

  adapter(projection: string): Adapter | undefined {
    const { lora } = this.spec
    const [nameA, nameB] = [adapterName(projection, 'A'), adapterName(projection, 'B')]
    const [a, b] = [this.layout.offset(nameA), this.layout.offset(nameB)]
    if (lora === undefined || this.#parameters === undefined || a === undefined || b === undefined) return undefined
    const { rank } = lora
    return { a: this.#parameters + a, b: this.#parameters + b, nameA, nameB, rank, scale: loraAlpha / rank }
  }

  /** Whether a step has failed halfway: the weights are undefined then. */
  get isTorn(): boolean {
    return this.#isTorn
  }

  /** Whether this model computes with the base’s own matrices. */
  get isOverBase(): boolean {
    return this.spec.lora !== undefined || this.#parameters === undefined
  }

  /** The matrices packed, as they are now; valid until the next step. */
  packed(): PackedWeights {
    if (this.isOverBase) return this.base.packed
    this.#packed ??= new PackedWeights(this.base, (name) => this.weight(name))
    return this.#packed
  }

  /**
   * Gradients for one pass, zeroed: those of the model where they are empty, others beside them where not. `keep` adds them to what
   * the next step uses up, `drop` leaves no trace of them.
   */
  openGradients(): { offset: (name: string) => number | undefined; keep: () => void; drop: () => void } {
    const { runtime } = this.base
    this.#gradients ??= { at: this.#alloc(), isFilled: false }
    const missing = (this.#adam === undefined ? 2 : 0) + (this.#parameters === undefined && !this.base.isPlain ? 1 : 0)
    while (this.#reserved.length < missing) this.#reserved.push(this.#alloc())
    const own = this.#gradients
    const at = own.isFilled ? this.#alloc() : own.at
    this.#clear(at)
    return {
      offset: (name) => {
        const offset = this.layout.offset(name)
        return offset === undefined ? undefined : at + offset
      },
      keep: () => {
        if (own.isFilled) runtime.run(new Program().add('add', { y: own.at, x: at, n: this.layout.length, alpha: 1 }))
        own.isFilled = true
        if (at !== own.at) runtime.free(at)
      },
      drop: () => {
        if (at !== own.at) runtime.free(at)
      },
    }
  }

  /**
   * Moves the weights and forgets the gradients. A gradient that is not finite moves nothing: training has diverged. `takesBase`:
   * no other model computes with the base, so that its memory can become the model's.
   */
  step(adam: Adam, { takesBase }: { takesBase: boolean }): Metrics {
    const { runtime } = this.base
    this.#gradients ??= { at: this.#alloc(), isFilled: false }
    const { at: gradients, isFilled } = this.#gradients
    if (!isFilled) this.#clear(gradients)
    this.#gradients.isFilled = false
    this.#isTorn = true // until it is done
    const norm = adamStep(runtime, adam, {
      gradients,
      length: this.layout.length,
      step: (this.#adam?.step ?? 0) + 1,
      places: () => {
        const parameters = this.#writable(takesBase)
        this.#adam ??= { step: 0, first: this.#zeros(), second: this.#zeros() }
        return { parameters, first: this.#adam.first, second: this.#adam.second }
      },
    })
    this.#isTorn = false
    if (norm === undefined) return { 'optim/skipped_nonfinite': 1 }
    this.#unpack()
    if (this.#adam !== undefined) this.#adam.step++
    return { 'optim/grad_norm': norm }
  }

  export(withOptimizer: boolean): Uint8Array {
    const shaped = (read: (name: string, length: number) => Float64Array): ReadonlyMap<string, CheckpointTensor> =>
      new Map([...this.trained].map(([name, shape]) => [name, { shape, data: read(name, sizeOf(shape)) }]))
    const moments = (at: number | undefined) =>
      shaped((name, length) => (at === undefined ? new Float64Array(length) : Float64Array.from(this.#view(at, name))))
    const { step = 0, first, second } = this.#adam ?? {}
    return encodeCheckpoint({
      ...this.spec,
      alpha: loraAlpha,
      weights: shaped((name, length) => this.#values(name, length)),
      adam: withOptimizer ? { step, first: moments(first), second: moments(second) } : undefined,
    })
  }

  /** Takes over what a checkpoint of the same model holds; without `optimizer`, Adam starts anew. */
  static import(checkpoint: Checkpoint, base: CpuBase, { optimizer }: { optimizer: boolean }): CpuModel {
    const { baseModel, lora, weights, adam } = checkpoint
    checkHolds(checkpoint, { optimizer })
    const model = new CpuModel({ baseModel, lora }, base)
    try {
      for (const each of [weights, ...(optimizer && adam !== undefined ? [adam.first, adam.second] : [])]) {
        checkTensors(each, model.trained)
      }
      model.#parameters ??= model.#zeros()
      model.#fill(model.#parameters, weights)
      if (optimizer && adam !== undefined) {
        model.#adam = { step: adam.step, first: model.#zeros(), second: model.#zeros() }
        model.#fill(model.#adam.first, adam.first)
        model.#fill(model.#adam.second, adam.second)
      }
      return model
    } catch (error) {
      model.free()
      throw error
    }
  }

  free(): void {
    const moments = [this.#adam?.first, this.#adam?.second]
    for (const at of [this.#parameters, this.#gradients?.at, ...moments, ...this.#reserved.splice(0)]) {
      if (at !== undefined) this.base.runtime.free(at)
    }
    this.#unpack()
    this.#parameters = undefined
    this.#gradients = undefined
    this.#adam = undefined
  }

  #unpack(): void {
    this.#packed?.free()
    this.#packed = undefined
  }

  #writable(takesBase: boolean): number {
    this.#parameters ??= takesBase ? this.base.take() : undefined
    if (this.#parameters !== undefined) return this.#parameters
    const own = this.#zeros()
    const program = new Program()
    for (const [name, axes] of this.trained) {
      const { at, type } = this.weight(name)
      const n = sizeOf(axes)
      program.add('convert', { y: own + (this.layout.offset(name) ?? 0), x: at, n, xType: type, yType: 'f32' })
    }
    this.base.runtime.run(program)
    this.#parameters = own
    return own
  }

  #values(name: string, length: number): Float64Array {
    const { runtime } = this.base
    if (this.#parameters !== undefined) return Float64Array.from(this.#view(this.#parameters, name))
    const { at, type } = this.weight(name)
    const values = new Float64Array(length)
    if (type === 'f32') values.set(runtime.f32(at, length))
    else decodeFloats('BF16', runtime.bytes(at, 2 * length), values)
    return values
  }

  #fill(block: number, source: ReadonlyMap<string, CheckpointTensor>): void {
    for (const [name, { data }] of source) this.#view(block, name).set(data)
  }

  #view(block: number, name: string): Float32Array {
    const length = sizeOf(this.trained.get(name) ?? [0])
    return this.base.runtime.f32(block + (this.layout.offset(name) ?? 0), length)
  }

  #clear(block: number): void {
    this.base.runtime.run(new Program().add('fill', { y: block, n: this.layout.length, value: 0 }))
  }

  #zeros(): number {
    const at = this.#reserved.pop() ?? this.#alloc()
    this.#clear(at)
    return at
  }

  // Weights, gradients and two moments are as large as each other.
  #alloc(): number {
    const what = 'one of the four copies of what is trained'
    const fix = this.spec.lora === undefined ? 'train an adapter, or a smaller model.' : 'use a smaller rank or model.'
    return allocFor(this.base.runtime, this.layout.bytes, what, fix)
  }
}

type AdamStepOptions = {
  gradients: number
  length: number
  /** Number of this step, from 1. */
  step: number
  /** Called only when the step is taken. */
  places: () => { parameters: number; first: number; second: number }
}

// One step of AdamW over a block, with an optional bound on the norm of the whole gradient. Factors are computed in float64.
/** The gradient's norm before clipping; undefined, and nothing is done, where that is not finite. */
function adamStep(
  runtime: Runtime,
  { learningRate, beta1, beta2, eps, weightDecay = 0, gradClipNorm = 0 }: Adam,
  { gradients, length, step, places }: AdamStepOptions,
): number | undefined {
  const sum = runtime.alloc(8)
  runtime.run(new Program().add('sumSquares', { sum, x: gradients, n: length }))
  const norm = Math.sqrt(runtime.f64(sum, 1)[0] ?? Number.NaN)
  runtime.free(sum)
  if (!Number.isFinite(norm)) return undefined
  const { parameters, first, second } = places()
  runtime.run(
    new Program().add('adamw', {
      p: parameters,
      g: gradients,
      m: first,
      v: second,
      n: length,
      gradScale: gradClipNorm > 0 && norm > gradClipNorm ? gradClipNorm / norm : 1,
      beta1,
      rest1: 1 - beta1,
      beta2,
      rest2: 1 - beta2,
      rate: learningRate / (1 - power(beta1, step)),
      secondScale: 1 / Math.sqrt(1 - power(beta2, step)),
      eps,
      decay: learningRate * weightDecay,
    }),
  )
  return norm
}
