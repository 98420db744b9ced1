// A model and its optimiser as a checkpoint, and back.
import { AdamState, type Parameters } from '../optimizer/adam-state.ts'
import { refused } from '../refused.ts'
import { BigramModel, type BigramSpec } from './bigram-model.ts'
import { decodeCheckpoint, encodeCheckpoint, type Tensors } from './checkpoint-bytes.ts'

export type LoadedModel = { readonly model: BigramModel; readonly adam: AdamState }

/** The weights as bytes, with the optimiser's state where training is to go on from them. Gradients are not saved. */
export function exportModel({ model, adam }: LoadedModel, withOptimizer: boolean): Uint8Array {
  const { baseModel, vocabSize, rank } = model.spec
  return encodeCheckpoint({
    base_model: baseModel,
    vocab_size: vocabSize,
    ...(rank === undefined ? {} : { rank }),
    ...(withOptimizer ? { adam_step: adam.step } : {}),
    tensors: {
      ...model.parameters,
      ...(withOptimizer ? { ...prefixed('adam_first.', adam.first), ...prefixed('adam_second.', adam.second) } : {}),
    },
  })
}

export type ImportOptions = {
  /** Takes over the optimiser's state too; without it Adam starts anew. */
  optimizer: boolean
  vocabSize: number
  /** The model that is replaced: the checkpoint must fit it. */
  into?: BigramSpec | undefined
}

/** The model in the bytes of a checkpoint. */
export function importModel(bytes: Uint8Array, { optimizer, vocabSize, into }: ImportOptions): LoadedModel {
  const { base_model, vocab_size, rank, adam_step, tensors } = decodeCheckpoint(bytes)
  const spec = { baseModel: base_model, vocabSize: vocab_size, rank }
  const wanted = into ?? { ...spec, vocabSize }
  for (const key of ['baseModel', 'vocabSize', 'rank'] as const) {
    if (spec[key] === wanted[key]) continue
    throw refused(
      `the checkpoint’s ${words[key]} is ${spec[key] ?? 'none'}, the model’s is ${wanted[key] ?? 'none'}`,
      'use a checkpoint of an equal model.',
    )
  }
  if (optimizer && adam_step === undefined) {
    throw refused(
      'the checkpoint holds no optimiser state',
      'load it without the optimiser, or use a `state` checkpoint.',
    )
  }
  const model = new BigramModel(spec, 0)
  const adam = new AdamState(model.parameters)
  fill(model.parameters, tensors, '')
  if (optimizer) {
    fill(adam.first, tensors, 'adam_first.')
    fill(adam.second, tensors, 'adam_second.')
    adam.step = adam_step ?? 0
  }
  return { model, adam }
}

const words = { baseModel: 'base model', vocabSize: 'vocabulary size', rank: 'adapter rank' }

function prefixed(prefix: string, tensors: Tensors): Tensors {
  return Object.fromEntries(Object.entries(tensors).map(([name, values]) => [prefix + name, values]))
}

function fill(target: Parameters, source: Tensors, prefix: string): void {
  for (const [name, values] of Object.entries(target)) {
    const saved = source[prefix + name]
    if (saved?.length !== values.length)
      throw refused(`the checkpoint has no fitting tensor "${prefix}${name}"`, 'save it again.')
    values.set(saved)
  }
}
