// What a "pretrained" mock model knows: a little noise, decided by its name alone. Every seed of an experiment starts from the
// same base, as it does with a real model.
import { keyedRandom } from '../../kernel/index.ts'

/** Large enough that models differ, small enough that every next token is about equally likely. */
const spread = 0.02

export function baseWeights(baseModel: string, vocabSize: number): { weight_VU: Float64Array; bias_U: Float64Array } {
  const random = keyedRandom(0, 'mock', 'base', baseModel, vocabSize)
  return {
    weight_VU: Float64Array.from({ length: vocabSize * vocabSize }, () => spread * random.normal()),
    bias_U: new Float64Array(vocabSize),
  }
}
