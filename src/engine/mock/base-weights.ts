// What a "pretrained" mock model knows: a little noise, decided by its name alone. Every seed of an experiment starts from the
// same base, as it does with a real model.
import { keyedRandom } from '../../kernel/index.ts'

/** Large enough that models differ, small enough that every next token is about equally likely. */
const spread = 0.02

export interface BaseWeights {
  readonly weight_VU: Float64Array
  readonly bias_U: Float64Array
}

// Policy, reference and every snapshot of a run have the same base.
const mostRecent = 4
const recent = new Map<string, BaseWeights>()

/** The weights of a base model. They are shared: do not change them. */
export function baseWeights(baseModel: string, vocabSize: number): BaseWeights {
  const key = JSON.stringify([baseModel, vocabSize])
  const known = recent.get(key)
  if (known !== undefined) return known
  const random = keyedRandom(0, 'mock', 'base', baseModel, vocabSize)
  const weight_VU = new Float64Array(vocabSize * vocabSize)
  for (let i = 0; i < weight_VU.length; i++) weight_VU[i] = spread * random.normal()
  const made = { weight_VU, bias_U: new Float64Array(vocabSize) }
  const [oldest] = recent.keys()
  if (recent.size >= mostRecent && oldest !== undefined) recent.delete(oldest)
  recent.set(key, made)
  return made
}
