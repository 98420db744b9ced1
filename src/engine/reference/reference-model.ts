// A model in training: base weights, and either an adapter over them or a copy of them that is trained whole.
import type { Adam, Metrics } from '../../contracts/index.ts'
import type { BaseModel } from '../files/base-model.ts'
import { type Checkpoint, type CheckpointTensor, encodeCheckpoint } from '../files/checkpoint.ts'
import { type ModelShape, tensorShapes } from '../files/model-shape.ts'
import { checkHolds, checkTensors, initialAdapter, loraAlpha, type ModelSpec } from '../files/model-spec.ts'
import { adapterName, adapterShapes } from '../files/model-weights.ts'
import { AdamState, type Parameters, zeros } from '../optimizer/adam-state.ts'
import { add, addOuter, addRowSum, addToRows, multiply, multiplyBack } from './linear.ts'
import { type Rotation, rotationOf } from './rope.ts'

/** Low-rank part of a projection: y += scale (x A^T) B^T. */
interface Adapter {
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
    return zeros(this.#parameters)
  }
}

// A model with its gradients and optimiser, and its way into a checkpoint and back.
export class ModelState {
  readonly model: ReferenceModel
  // Both are made when they are first needed: a model that only answers has neither.
  #gradients: Parameters | undefined
  #adam: AdamState | undefined

  constructor(spec: ModelSpec, base: BaseModel) {
    this.model = new ReferenceModel(spec, base)
  }

  /** Adds to the gradients that the next step uses up. */
  accumulate(gradients: Parameters): void {
    for (const [name, sum] of Object.entries(this.#gradients ?? {})) {
      const more = gradients[name]
      if (more !== undefined) add(sum, more)
    }
    this.#gradients ??= gradients
  }

  /** Moves the weights and forgets the gradients. A gradient that is not finite moves nothing: training has diverged. */
  step(adam: Adam): Metrics {
    const gradients = this.#gradients ?? this.model.zeroGradients()
    this.#gradients = undefined
    if (!Object.values(gradients).every((values) => values.every(Number.isFinite)))
      return { 'optim/skipped_nonfinite': 1 }
    const parameters = this.model.writable()
    this.#adam ??= new AdamState(parameters)
    return { 'optim/grad_norm': this.#adam.apply(parameters, gradients, adam) }
  }

  export(withOptimizer: boolean): Uint8Array {
    const { spec, trained, parameters } = this.model
    const shaped = (values: Parameters): ReadonlyMap<string, CheckpointTensor> =>
      new Map([...trained].map(([name, shape]) => [name, { shape, data: values[name] ?? new Float64Array() }]))
    const adam = withOptimizer ? (this.#adam ?? new AdamState(parameters)) : undefined
    return encodeCheckpoint({
      ...spec,
      alpha: loraAlpha,
      weights: shaped(parameters),
      adam:
        adam === undefined ? undefined : { step: adam.step, first: shaped(adam.first), second: shaped(adam.second) },
    })
  }

  /** Takes over what a checkpoint of the same model holds; without `optimizer`, Adam starts anew. */
  static import(checkpoint: Checkpoint, base: BaseModel, { optimizer }: { optimizer: boolean }): ModelState {
    const { baseModel, lora, weights, adam } = checkpoint
    checkHolds(checkpoint, { optimizer })
    const state = new ModelState({ baseModel, lora }, base)
    const { trained } = state.model
    fill(state.model.writable(), weights, trained)
    if (optimizer && adam !== undefined) {
      const own = new AdamState(state.model.parameters)
      fill(own.first, adam.first, trained)
      fill(own.second, adam.second, trained)
      own.step = adam.step
      state.#adam = own
    }
    return state
  }
}

function fill(
  target: Parameters,
  source: ReadonlyMap<string, CheckpointTensor>,
  shapes: ReadonlyMap<string, readonly number[]>,
): void {
  checkTensors(source, shapes)
  for (const [name, { data }] of source) target[name]?.set(data)
}

// A linear map of the model with everything that may hang on it: y = x W^T + b + scale (x A^T) B^T.
/** Projects rows by the map of this name. */
export function project(model: ReferenceModel, name: string, x_TI: Float64Array, rows: number): Float64Array {
  const y_TO = multiply(x_TI, model.tensor(model.weightName(name)), rows)
  if (hasBias(model, name)) addToRows(y_TO, model.tensor(`${name}.bias`))
  const adapter = model.adapter(name)
  if (adapter !== undefined) {
    add(y_TO, multiply(multiply(x_TI, adapter.a_RI, rows), adapter.b_OR, rows), adapter.scale)
  }
  return y_TO
}

/** dx from dy; adds to the gradients of what is trained. */
export function projectBack(
  model: ReferenceModel,
  gradients: Parameters,
  name: string,
  { x_TI, dy_TO, rows }: { x_TI: Float64Array; dy_TO: Float64Array; rows: number },
): Float64Array {
  const dx_TI = multiplyBack(dy_TO, model.tensor(model.weightName(name)), rows)
  const dWeight = gradients[model.weightName(name)]
  if (dWeight !== undefined) addOuter(dWeight, dy_TO, x_TI, rows)
  const dBias = gradients[`${name}.bias`]
  if (dBias !== undefined) addRowSum(dBias, dy_TO)
  const adapter = model.adapter(name)
  if (adapter === undefined) return dx_TI
  const { a_RI, b_OR, nameA, nameB, scale } = adapter
  const low_TR = multiply(x_TI, a_RI, rows)
  const dLow_TR = multiplyBack(dy_TO, b_OR, rows)
  add(dx_TI, multiplyBack(dLow_TR, a_RI, rows), scale)
  const [dA, dB] = [gradients[nameA], gradients[nameB]]
  if (dA !== undefined) addOuter(dA, dLow_TR, x_TI, rows, scale)
  if (dB !== undefined) addOuter(dB, dy_TO, low_TR, rows, scale)
  return dx_TI
}

function hasBias({ shape }: ReferenceModel, name: string): boolean {
  if (/[qkv]_proj$/.test(name)) return shape.qkvBias
  if (name.endsWith('o_proj')) return shape.outputBias
  return name !== 'lm_head' && shape.mlpBias
}
