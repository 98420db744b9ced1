// Training data as an engine computes with it. Everything is checked before anything is computed, so that a refused request
// adds no part of a gradient.
import type { Datum, Tensor } from '../../contracts/index.ts'
import { refused } from '../refused.ts'
import type { LossFunction } from './losses.ts'

export interface CheckedDatum {
  readonly tokens: Int32Array
  /** Targets of each position: K of them. */
  readonly targets: Tensor
  readonly targetsPerToken: number
  /** In the order of the loss function's inputs, then its optional ones; each as long as the targets. */
  readonly inputs: readonly (Tensor | undefined)[]
}

/** What a model can take. */
export type DataLimits = {
  vocabSize: number
  /** Longest text. Absent: any length. */
  maxTokens?: number | undefined
}

/** The data of a request, or an error that names the datum and input at fault. */
export function checkedData(data: readonly Datum[], loss: LossFunction, limits: DataLimits): CheckedDatum[] {
  if (data.length === 0) throw refused('the request holds no data', 'skip the step when a batch is empty.')
  return data.map((datum, index) => checkedDatum(datum, loss, limits, `datum ${index}`))
}

function checkedDatum(datum: Datum, loss: LossFunction, limits: DataLimits, what: string): CheckedDatum {
  const { tokens, lossInputs } = datum
  const { vocabSize, maxTokens = Number.POSITIVE_INFINITY } = limits
  if (tokens.length === 0) throw refused(`${what} has no tokens`, 'leave out empty examples.')
  if (tokens.length > maxTokens) {
    throw refused(`${what} has ${tokens.length} tokens`, `the model’s context is ${maxTokens}: cut the text.`)
  }
  checkTokens(tokens, vocabSize, `${what}: tokens`)
  const known = ['target_tokens', ...loss.inputs, ...loss.optionalInputs]
  const unknown = Object.keys(lossInputs).find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw refused(`${what}: the loss takes no input "${unknown}"`, `it takes ${known.join(', ')}.`)
  }
  const targets = requiredTensor(lossInputs, 'target_tokens', what)
  const [length, targetsPerToken = 1, ...more] = targets.shape
  if (length !== tokens.length || more.length > 0 || (targets.shape.length > 1 && !loss.manyTargets)) {
    throw refused(
      `${what}: target_tokens has shape [${targets.shape.join(', ')}] for ${tokens.length} tokens`,
      loss.manyTargets ? 'give it the shape [N] or [N, K].' : 'give it the shape [N].',
    )
  }
  checkTokens(targets.data, vocabSize, `${what}: target_tokens`)
  const inputs = [
    ...loss.inputs.map((name) => checkedInput(requiredTensor(lossInputs, name, what), targets, `${what}: ${name}`)),
    ...loss.optionalInputs.map((name) => {
      const tensor = tensorOf(lossInputs, name, what)
      return tensor === undefined ? undefined : checkedInput(tensor, targets, `${what}: ${name}`)
    }),
  ]
  return { tokens, targets, targetsPerToken, inputs }
}

function checkedInput(input: Tensor, targets: Tensor, what: string): Tensor {
  if (input.shape.join() !== targets.shape.join()) {
    throw refused(`${what} has shape [${input.shape.join(', ')}]`, 'give it the shape of target_tokens.')
  }
  const wrong = input.data.findIndex((value) => !Number.isFinite(value))
  if (wrong === -1) return input
  throw refused(`${what}[${wrong}] is ${input.data[wrong]}`, 'give every token a finite number, 0 where there is none.')
}

function requiredTensor(inputs: Datum['lossInputs'], name: string, what: string): Tensor {
  const tensor = tensorOf(inputs, name, what)
  if (tensor === undefined) throw refused(`${what} lacks the input ${name}`, 'the loss needs it for every token.')
  return tensor
}

function tensorOf(inputs: Datum['lossInputs'], name: string, what: string): Tensor | undefined {
  const tensor = Object.hasOwn(inputs, name) ? inputs[name] : undefined
  if (tensor === undefined) return undefined
  const size = tensor.shape.reduce((product, axis) => product * axis, 1)
  if (tensor.shape.length > 0 && size === tensor.data.length) return tensor
  throw refused(
    `${what}: ${name} has ${tensor.data.length} values for the shape [${tensor.shape.join(', ')}]`,
    'make them agree.',
  )
}

function checkTokens(tokens: Tensor['data'], vocabSize: number, what: string): void {
  const wrong = tokens.findIndex((token) => !(Number.isInteger(token) && token >= 0 && token < vocabSize))
  if (wrong === -1) return
  throw refused(`${what}[${wrong}] is ${tokens[wrong]}`, `tokens are whole numbers from 0 to ${vocabSize - 1}.`)
}

/** Loss of each target of a datum, and its derivative by the target's log-probability. */
type DatumLoss = { readonly losses: Float64Array; readonly derivatives: Float64Array }

/** The loss of a datum whose targets have these log-probabilities, in the order of `targets.data`. */
export function evaluateDatum({ inputs }: CheckedDatum, loss: LossFunction, logprobs: Float64Array): DatumLoss {
  const losses = new Float64Array(logprobs.length)
  const derivatives = new Float64Array(logprobs.length)
  for (let at = 0; at < logprobs.length; at++) {
    const token = loss.token(
      logprobs[at] ?? Number.NaN,
      inputs.map((input) => input?.data[at]),
    )
    losses[at] = token.loss
    derivatives[at] = token.derivative
  }
  return { losses, derivatives }
}

/**
 * Refuses derivatives that are the request's fault: inputs that no number can answer. Where the model itself has none, training has
 * diverged: the loss shows that, and the caller decides what to do.
 */
export function checkDerivatives(derivatives: Float64Array, logprobs: Float64Array, what: string): void {
  const wrong = derivatives.findIndex((derivative, i) => !Number.isFinite(derivative) && Number.isFinite(logprobs[i]))
  if (wrong === -1) return
  throw refused(
    `${what}: the loss at target ${wrong} has the derivative ${derivatives[wrong]}`,
    'the given logprobs are too far from the model’s: check that they belong to these tokens.',
  )
}
