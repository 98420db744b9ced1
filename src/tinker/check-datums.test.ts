import { describe, expect, it } from 'vitest'
import { datum } from '../../tests/tinker-clients.ts'
import type { Datum } from '../contracts/index.ts'
import { checkDatums } from './loss-data.ts'

const good = datum([1, 2, 3])
const { target_tokens, weights } = good.lossInputs
const vector = (...values: number[]) => ({ data: Float32Array.from(values), shape: [values.length] })
const withInputs = (inputs: Record<string, unknown>): Datum => ({
  tokens: good.tokens,
  lossInputs: { ...good.lossInputs, ...inputs } as Datum['lossInputs'],
})

describe('checkDatums', () => {
  it('passes what the losses take (TNK-23)', () => {
    checkDatums([good], { name: 'cross_entropy' })
    const rl = withInputs({ logprobs: vector(-1, -2), advantages: vector(1, 0) })
    for (const name of ['importance_sampling', 'ppo', 'cispo', 'dro']) checkDatums([rl], { name })
    checkDatums([withInputs({ anything: vector(1, 2) })], { name: 'a_loss_of_the_future' })
  })

  it.each<[string, Datum[], RegExp]>([
    ['an empty batch', [], /the batch is empty/],
    ['no tokens', [good, { ...good, tokens: new Int32Array() }], /datum 1 has no tokens/],
    ['a negative token', [{ ...good, tokens: Int32Array.of(1, -4) }], /datum 0: tokens\[1\] is -4/],
    [
      'no targets',
      [{ tokens: good.tokens, lossInputs: { weights } as Datum['lossInputs'] }],
      /datum 0 lacks target_tokens/,
    ],
    ['a half target', [withInputs({ target_tokens: vector(1, 1.5) })], /target_tokens\[1\] is 1.5/],
    ['a short input', [good, withInputs({ weights: vector(1) })], /datum 1: weights has 1 positions, the datum has 2/],
    [
      'a wrong shape',
      [withInputs({ weights: { data: Float32Array.of(1, 2), shape: [2, 2] } })],
      /weights has 2 values/,
    ],
    ['NaN', [withInputs({ weights: vector(0, Number.NaN) })], /datum 0: weights\[1\] is NaN/],
    ['a mask', [withInputs({ mask: vector(0, 1) })], /mask is no input of cross_entropy/],
  ])('names the datum and the position: %s (TNK-23)', (_name, data, message) => {
    expect(() => checkDatums(data, { name: 'cross_entropy' })).toThrow(message)
  })

  it('finds what a loss lacks, and settings that are no numbers (TNK-23)', () => {
    expect(() => checkDatums([good], { name: 'ppo' })).toThrow(/datum 0 lacks logprobs/)
    const config = { beta: Number.POSITIVE_INFINITY }
    expect(() => checkDatums([good], { name: 'cross_entropy', config })).toThrow(/beta is Infinity/)
    expect(target_tokens).toBeDefined()
  })
})
