// Log-probabilities and gradients of a batch, one text after the other: no text sees another.
import type { Datum, EngineOp, FwdBwd } from '../../contracts/index.ts'
import type { Breathe } from '../breather.ts'
import { checkDerivatives } from '../losses/check-derivatives.ts'
import { type CheckedDatum, checkedData } from '../losses/checked-data.ts'
import { evaluateDatum } from '../losses/evaluate-datum.ts'
import { lossFunction } from '../losses/losses.ts'
import type { Parameters } from '../optimizer/adam-state.ts'
import type { ReferenceModel } from './reference-model.ts'
import { backward, forward, logprobsAt, type RowDerivatives, type Trace } from './transformer.ts'

type Pass = Pick<Extract<EngineOp, { readonly data: readonly Datum[] }>, 'data' | 'loss'>

/** Computes the loss of a batch and, with `gradients`, adds its gradient to them. On an error they hold a part of it. */
export async function forwardBackward(
  model: ReferenceModel,
  { data, loss: named }: Pass,
  { gradients, breathe }: { gradients?: Parameters | undefined; breathe: Breathe },
): Promise<FwdBwd> {
  const loss = lossFunction(named)
  const { vocabSize, maxPositions } = model.shape
  const checked = checkedData(data, loss, { vocabSize, maxTokens: maxPositions })
  const outputs: FwdBwd['outputs'][number][] = []
  let sum = 0
  for (const [index, datum] of checked.entries()) {
    const trace = await forward(model, datum.tokens, { breathe })
    const logprobs = await targetLogprobs(model, trace, datum, breathe)
    const { losses, derivatives } = evaluateDatum(datum, loss, logprobs)
    for (const value of losses) sum += value
    outputs.push({ logprobs: { data: logprobs, shape: datum.targets.shape } })
    if (gradients === undefined) continue
    checkDerivatives(derivatives, logprobs, `datum ${index}`)
    if (derivatives.some((derivative) => derivative !== 0)) {
      await backward(model, gradients, trace, rowsOf(datum, derivatives), breathe)
    }
  }
  return { outputs, metrics: { 'loss:sum': sum } }
}

async function targetLogprobs(
  model: ReferenceModel,
  trace: Trace,
  { targets, targetsPerToken, tokens }: CheckedDatum,
  breathe: Breathe,
): Promise<Float64Array> {
  const { vocabSize, hiddenSize } = model.shape
  const logprobs = new Float64Array(targets.data.length)
  for (let t = 0; t < tokens.length; t++) {
    const row_V = logprobsAt(model, trace, t)
    for (let at = t * targetsPerToken; at < (t + 1) * targetsPerToken; at++) {
      logprobs[at] = row_V[targets.data[at] ?? 0] ?? Number.NaN
    }
    await breathe(vocabSize * hiddenSize)
  }
  return logprobs
}

function rowsOf({ targets, targetsPerToken, tokens }: CheckedDatum, derivatives: Float64Array): RowDerivatives[] {
  return Array.from(tokens, (_, t) =>
    Array.from({ length: targetsPerToken }, (_, k) => {
      const at = t * targetsPerToken + k
      return { token: targets.data[at] ?? 0, derivative: derivatives[at] ?? 0 }
    }),
  )
}
