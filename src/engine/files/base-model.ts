// A base model in memory: its shape and every tensor of it, checked against each other.
import { invalidModel } from './invalid-model.ts'
import { readModelConfig } from './model-config.ts'
import { type ModelShape, tensorShapes } from './model-shape.ts'
import { openModelWeights } from './model-weights.ts'

export interface BaseModel {
  readonly shape: ModelShape
  /** Shared by every adapter over it: not to be changed. */
  readonly tensors: ReadonlyMap<string, Float64Array>
}

export type LoadOptions = {
  /** Refuses larger models before anything is read. */
  maxParameters: number
  signal: AbortSignal
}

/** Reads the model in a folder. A tensor that is missing, of another shape, not finite, or of no use is an error. */
export async function loadBaseModel(folder: string, { maxParameters, signal }: LoadOptions): Promise<BaseModel> {
  const shape = await readModelConfig(folder)
  // Counted before the list is made: a config may claim any size.
  const parameters = parameterCount(shape)
  if (parameters > maxParameters) {
    throw invalidModel(folder, `the model has ${parameters} parameters, the engine takes ${maxParameters}`, {
      fix: 'use a smaller model, or another engine.',
    })
  }
  const wanted = tensorShapes(shape)
  await using weights = await openModelWeights(folder)
  for (const [name, { shape: found }] of weights.tensors) {
    const expected = wanted.get(name)
    if (expected === undefined && !isSpare(name, shape)) {
      throw invalidModel(weights.fileOf(name), `the config has no place for the tensor "${name}"`)
    }
    if (expected !== undefined && expected.join() !== found.join()) {
      throw invalidModel(
        weights.fileOf(name),
        `the tensor "${name}" has the shape [${found.join(', ')}], the config says [${expected.join(', ')}]`,
      )
    }
  }
  const tensors = new Map<string, Float64Array>()
  for (const name of wanted.keys()) {
    if (!weights.tensors.has(name)) throw invalidModel(folder, `the weights lack the tensor "${name}"`)
    const values = await weights.read(name, signal)
    if (!values.every(Number.isFinite)) {
      throw invalidModel(weights.fileOf(name), `the tensor "${name}" holds values that are not finite`)
    }
    tensors.set(name, values)
  }
  return { shape, tensors }
}

// Old files store what is computed; others store the embedding a second time.
function isSpare(name: string, { tiedEmbeddings }: ModelShape): boolean {
  return name.endsWith('.rotary_emb.inv_freq') || (tiedEmbeddings && name === 'lm_head.weight')
}

function parameterCount(shape: ModelShape): number {
  const ofOne = (layers: number) =>
    [...tensorShapes({ ...shape, layers }).values()].reduce(
      (sum, axes) => sum + axes.reduce((product, axis) => product * axis, 1),
      0,
    )
  const none = ofOne(0)
  return none + shape.layers * (ofOne(1) - none)
}
