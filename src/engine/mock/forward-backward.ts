// Log-probabilities and gradients of a batch.
import type { Datum, EngineOp, FwdBwd } from '../../contracts/index.ts'
import { breather } from '../breather.ts'
import { type CheckedDatum, checkedData } from '../losses/checked-data.ts'
import { evaluateDatum } from '../losses/evaluate-datum.ts'
import { lossFunction } from '../losses/losses.ts'
import type { BigramModel } from './bigram-model.ts'

type Pass = Extract<EngineOp, { readonly data: readonly Datum[] }>

/** In tokens. */
const perBreath = 50_000

/** Computes the loss of a batch and, unless it is a plain `forward`, adds its gradient. All of the gradient or none. */
export async function forwardBackward(
  model: BigramModel,
  { op, data, loss: named }: Pass,
  signal: AbortSignal,
): Promise<FwdBwd> {
  const loss = lossFunction(named)
  const checked = checkedData(data, loss, { vocabSize: model.spec.vocabSize })
  const breathe = breather(signal, perBreath)
  const results: { logprobs: Float64Array; derivatives: Float64Array }[] = []
  let sum = 0
  for (const datum of checked) {
    const logprobs = targetLogprobs(model, datum)
    const { losses, derivatives } = evaluateDatum(datum, loss, logprobs)
    results.push({ logprobs, derivatives })
    for (const value of losses) sum += value
    await breathe(losses.length)
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

function targetLogprobs(model: BigramModel, { tokens, targets, targetsPerToken }: CheckedDatum): Float64Array {
  return Float64Array.from(
    targets.data,
    (target, at) => model.logprobs(tokens[Math.floor(at / targetsPerToken)] ?? 0)[target] ?? Number.NaN,
  )
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
