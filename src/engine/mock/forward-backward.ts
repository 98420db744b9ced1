// Log-probabilities and gradients of a batch.
import type { Datum, EngineOp, FwdBwd } from '../../contracts/index.ts'
import type { BigramModel } from './bigram-model.ts'
import { breather } from './breather.ts'
import { type CheckedDatum, checkedData } from './checked-data.ts'
import { type LossFunction, lossFunction } from './losses.ts'

type Pass = Extract<EngineOp, { readonly data: readonly Datum[] }>

/** Computes the loss of a batch and, unless it is a plain `forward`, adds its gradient. All of the gradient or none. */
export async function forwardBackward(
  model: BigramModel,
  { op, data, loss: named }: Pass,
  signal: AbortSignal,
): Promise<FwdBwd> {
  const loss = lossFunction(named)
  const checked = checkedData(data, loss, model.spec.vocabSize)
  const breathe = breather(signal)
  const results: DatumResult[] = []
  let sum = 0
  for (const datum of checked) {
    const result = evaluate(model, datum, loss)
    results.push(result)
    for (const value of result.losses) sum += value
    await breathe(result.losses.length)
  }
  if (op === 'forward_backward') {
    for (const [index, datum] of checked.entries()) accumulate(model, datum, results[index]?.derivatives)
  }
  return {
    outputs: results.map(({ logprobs }, index) => ({
      logprobs: { data: logprobs, shape: checked[index]?.targets.shape ?? [] },
    })),
    metrics: { 'loss:sum': sum },
  }
}

type DatumResult = Readonly<Record<'logprobs' | 'losses' | 'derivatives', Float64Array>>

function evaluate(
  model: BigramModel,
  { tokens, targets, targetsPerToken, inputs }: CheckedDatum,
  loss: LossFunction,
): DatumResult {
  const size = targets.data.length
  const result = {
    logprobs: new Float64Array(size),
    losses: new Float64Array(size),
    derivatives: new Float64Array(size),
  }
  const values: number[] = inputs.map(() => 0)
  for (let at = 0; at < size; at++) {
    const p = model.logprobs(tokens[Math.floor(at / targetsPerToken)] ?? 0)[targets.data[at] ?? 0] ?? Number.NaN
    for (let i = 0; i < values.length; i++) values[i] = inputs[i]?.data[at] ?? 0
    const token = loss.token(p, values)
    result.logprobs[at] = p
    result.losses[at] = token.loss
    result.derivatives[at] = token.derivative
  }
  return result
}

function accumulate(
  model: BigramModel,
  { tokens, targets, targetsPerToken }: CheckedDatum,
  derivatives?: Float64Array,
): void {
  derivatives?.forEach((derivative, at) => {
    if (derivative !== 0) {
      model.accumulate(tokens[Math.floor(at / targetsPerToken)] ?? 0, targets.data[at] ?? 0, derivative)
    }
  })
}
