// A loss written as a function of log-probabilities; its gradient follows by itself. It is sent like any loss that the caller
// computes: one pass for the log-probabilities, one that carries the gradient.
import type { CustomLoss, Datum, Metrics, Tensor } from '../../contracts/index.ts'
import { Value } from './value.ts'

export interface LossBatch {
  readonly data: readonly Datum[]
  /** Of each datum, the log-probabilities of its targets, row by row where there are several per position. */
  readonly logprobs: readonly Value[]
  /** Numbers that a datum brings along, `weights` for one; undefined where it brings none. */
  input(index: number, name: string): Tensor['data'] | undefined
}

export type LossResult = { readonly loss: Value; readonly metrics?: Metrics }

/** Makes a loss for `forwardBackward` out of a function. Every datum must have a part in it. */
export function defineLoss(compute: (batch: LossBatch) => LossResult): CustomLoss {
  return {
    custom(data, logprobs) {
      const leaves = logprobs.map(({ data: numbers }) => new Value(Float64Array.from(numbers)))
      const input = (index: number, name: string) => data[index]?.lossInputs[name]?.data
      const { loss, metrics } = compute({ data, logprobs: leaves, input })
      const gradients = loss.slopes(leaves).map((slope, index) => {
        if (slope === undefined) throw new RangeError(`the loss does not depend on datum ${index}`)
        return { data: slope, shape: logprobs[index]?.shape ?? [slope.length] }
      })
      return { loss: loss.item, gradients, ...(metrics === undefined ? {} : { metrics }) }
    },
  }
}
