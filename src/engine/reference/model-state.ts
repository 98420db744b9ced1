// A model with its gradients and optimiser, and its way into a checkpoint and back.
import type { Adam, Metrics } from '../../contracts/index.ts'
import type { BaseModel } from '../files/base-model.ts'
import { type Checkpoint, type CheckpointTensor, encodeCheckpoint } from '../files/checkpoint.ts'
import { loraAlpha } from '../lora-spec.ts'
import { checkHolds, checkTensors, type ModelSpec } from '../model-spec.ts'
import { AdamState, type Parameters } from '../optimizer/adam-state.ts'
import { add } from './linear.ts'
import { ReferenceModel } from './reference-model.ts'

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
    if (this.#gradients === undefined) {
      this.#gradients = gradients
      return
    }
    for (const [name, sum] of Object.entries(this.#gradients)) {
      const more = gradients[name]
      if (more !== undefined) add(sum, more)
    }
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
    const adam = this.#adam ?? (withOptimizer ? new AdamState(parameters) : undefined)
    return encodeCheckpoint({
      ...spec,
      ...(spec.lora === undefined ? {} : { alpha: loraAlpha }),
      weights: shaped(parameters),
      ...(withOptimizer && adam !== undefined
        ? { adam: { step: adam.step, first: shaped(adam.first), second: shaped(adam.second) } }
        : {}),
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
