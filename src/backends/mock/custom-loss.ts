// A loss that the caller computes, through a service that knows only named ones. Cross entropy is the sum of -w p, so with
// w = -dC/dp its gradient is that of C.
import type { CustomLoss, Datum, FwdBwd, NamedLoss, Tensor } from '../../contracts/index.ts'
import { boundary, EvsysError } from '../../kernel/index.ts'

type Pass = (op: 'forward' | 'forward_backward', data: readonly Datum[], loss: NamedLoss) => Promise<FwdBwd>

/** Two passes: log-probabilities for the caller, then the gradient it gives for them. The reported loss is the caller's. */
export async function customForwardBackward(
  data: readonly Datum[],
  { custom }: CustomLoss,
  { backward, pass, signal }: { backward: boolean; pass: Pass; signal: AbortSignal },
): Promise<FwdBwd> {
  const loss = { name: 'cross_entropy' }
  const { outputs } = await pass(
    'forward',
    data.map((datum) => weighted(datum, () => 0)),
    loss,
  )
  const logprobs = outputs.map((output) => output.logprobs ?? { data: new Float64Array(), shape: [0] })
  const result = await boundary('PLUGIN_FAILED', 'custom loss', signal, async () => custom(data, logprobs))
  checkGradients(result.gradients, logprobs)
  if (backward) {
    const withGradient = data.map((datum, index) => weighted(datum, (at) => -(result.gradients[index]?.data[at] ?? 0)))
    await pass('forward_backward', withGradient, loss)
  }
  return { outputs, metrics: { ...result.metrics, 'loss:sum': result.loss } }
}

function weighted(datum: Datum, weightAt: (at: number) => number): Datum {
  const { target_tokens } = datum.lossInputs
  if (target_tokens === undefined) {
    throw refused('a datum lacks the input target_tokens', 'a custom loss needs it for every datum.')
  }
  const data = Float64Array.from(target_tokens.data, (_, at) => weightAt(at))
  return { tokens: datum.tokens, lossInputs: { target_tokens, weights: { data, shape: target_tokens.shape } } }
}

function checkGradients(gradients: readonly Tensor[], logprobs: readonly Tensor[]): void {
  const fits =
    gradients.length === logprobs.length &&
    gradients.every(({ data }, index) => data.length === logprobs[index]?.data.length)
  if (!fits)
    throw refused(
      'its gradients do not have the shape of the log-probabilities',
      'return one gradient per datum, with one value for each log-probability.',
    )
}

function refused(message: string, fix: string): EvsysError {
  return new EvsysError('BACKEND_FAILED', `custom loss: ${message}`, { fix })
}
