// A base model in memory: its shape and every tensor of it, checked against each other.
import { areFinite } from './float-codec.ts'
import { invalidModel } from './json-places.ts'
import { readModelConfig } from './model-config.ts'
import { type ModelShape, sizeOf, tensorShapes } from './model-shape.ts'
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
export async function loadBaseModel(folder: string, options: LoadOptions): Promise<BaseModel> {
  const tensors = new Map<string, Float64Array>()
  const take = (name: string, values: Float64Array) => void tensors.set(name, values)
  const shape = await readBaseModel(folder, options, () => ({ take }))
  return { shape, tensors }
}

/** Takes tensors one by one. */
export type TensorTaker = {
  /** Memory for the bytes of a tensor that is wanted as it is stored. */
  room?: ((name: string) => Uint8Array | undefined) | undefined
  /** Takes the values of any other. */
  take(name: string, values: Float64Array): void
}

/** The same, tensor by tensor: nothing is kept. `start` gets the shape before anything is read. */
export async function readBaseModel(
  folder: string,
  { maxParameters, signal }: LoadOptions,
  start: (shape: ModelShape, dtypes: ReadonlyMap<string, string>) => TensorTaker,
): Promise<ModelShape> {
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
  const dtypes = new Map<string, string>()
  for (const name of wanted.keys()) {
    const info = weights.tensors.get(name)
    if (info === undefined) throw invalidModel(folder, `the weights lack the tensor "${name}"`)
    dtypes.set(name, info.dtype)
  }
  const taker = start(shape, dtypes)
  for (const [name, dtype] of dtypes) {
    const room = taker.room?.(name)
    if (room !== undefined) await weights.readInto(name, room, signal)
    const isFine = room === undefined ? undefined : areFinite(dtype, room)
    const values = isFine === undefined ? await weights.read(name, signal) : undefined
    if (isFine === false || (values !== undefined && !areFiniteValues(values))) {
      throw invalidModel(weights.fileOf(name), `the tensor "${name}" holds values that are not finite`)
    }
    if (values !== undefined) taker.take(name, values)
  }
  return shape
}

function areFiniteValues(values: Float64Array): boolean {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += 0 * (values[i] ?? 0) // is NaN where one of them is not finite
  return sum === 0
}

// Old files store what is computed; others store the embedding a second time.
function isSpare(name: string, { tiedEmbeddings }: ModelShape): boolean {
  return name.endsWith('.rotary_emb.inv_freq') || (tiedEmbeddings && name === 'lm_head.weight')
}

function parameterCount(shape: ModelShape): number {
  const ofOne = (layers: number) =>
    [...tensorShapes({ ...shape, layers }).values()].reduce((sum, axes) => sum + sizeOf(axes), 0)
  const none = ofOne(0)
  return none + shape.layers * (ofOne(1) - none)
}
