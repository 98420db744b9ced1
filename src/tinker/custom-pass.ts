// A loss that the caller computes, through a service that knows only named ones. Cross entropy is the sum of -w p, so with
// w = -dC/dp its gradient is that of C. Two passes: one for p, one that carries the gradient.
import type { CustomLoss, Datum, FwdBwd, NamedLoss, Tensor } from '../contracts/index.ts'
import { boundary } from '../kernel/index.ts'
import { ServiceError } from './service-error.ts'

/** The loss that carries gradients. */
export const carrier: NamedLoss = Object.freeze({ name: 'cross_entropy' })

/** The data of the first pass: weights do not matter, so they are 0. */
export function unweighted(data: readonly Datum[]): Datum[] {
  return data.map((datum, index) => weighted(datum, index, () => 0))
}

/** Calls the caller's loss on the log-probabilities, and checks that its gradients fit. */
export async function evaluateLoss(
  data: readonly Datum[],
  { custom }: CustomLoss,
  outputs: FwdBwd['outputs'],
  signal: AbortSignal,
): Promise<ReturnType<CustomLoss['custom']>> {
  const logprobs = outputs.map((output, index) => {
    if (output.logprobs !== undefined) return output.logprobs
    throw new ServiceError('protocol', `the pass answered no log-probabilities for datum ${index}`)
  })
  const result = await boundary('PLUGIN_FAILED', 'custom loss', signal, async () => custom(data, logprobs))
  checkGradients(result, logprobs)
  return result
}

/** The data of the second pass. */
export function withGradients(data: readonly Datum[], gradients: readonly Tensor[]): Datum[] {
  return data.map((datum, index) => weighted(datum, index, (at) => -(gradients[index]?.data[at] ?? 0)))
}

function weighted({ tokens, lossInputs }: Datum, index: number, weightAt: (at: number) => number): Datum {
  const { target_tokens } = lossInputs
  if (target_tokens === undefined) {
    throw refused(
      `datum ${index} lacks target_tokens`,
      'a custom loss needs them: it is a function of their log-probabilities.',
    )
  }
  const data = Float64Array.from(target_tokens.data, (_, at) => weightAt(at))
  return { tokens, lossInputs: { target_tokens, weights: { data, shape: target_tokens.shape } } }
}

function checkGradients({ loss, gradients }: ReturnType<CustomLoss['custom']>, logprobs: readonly Tensor[]): void {
  if (!Number.isFinite(loss)) throw refused(`the loss is ${loss}`, 'a loss is a finite number.')
  if (gradients.length !== logprobs.length) {
    throw refused(`${gradients.length} gradients for ${logprobs.length} datums`, 'return one gradient per datum.')
  }
  for (const [index, { data }] of gradients.entries()) {
    const expected = logprobs[index]?.data.length ?? 0
    if (data.length !== expected) {
      throw refused(
        `the gradient of datum ${index} has ${data.length} values for ${expected} log-probabilities`,
        'return one value for each log-probability.',
      )
    }
    const at = data.findIndex((value) => !Number.isFinite(value))
    if (at !== -1)
      throw refused(`the gradient of datum ${index} is ${data[at]} at position ${at}`, 'gradients are finite.')
  }
}

function refused(message: string, fix: string): ServiceError {
  return new ServiceError('invalid', `custom loss: ${message}`, { fix })
}
