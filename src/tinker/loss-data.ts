// Faults of a batch that can be seen before it is sent. Sent, they would come back as one sentence about one of a thousand
// datums, or as a result that is quietly wrong.
import type { CustomLoss, Datum, FwdBwd, NamedLoss, Tensor } from '../contracts/index.ts'
import * as tinker from '../contracts/tinker/index.ts'
import { boundary } from '../kernel/index.ts'
import { ServiceError } from './service-error.ts'

const rl = ['target_tokens', 'logprobs', 'advantages']
const required: ReadonlyMap<string, readonly string[]> = new Map([
  ['cross_entropy', ['target_tokens']],
  ['importance_sampling', rl],
  ['ppo', rl],
  ['cispo', rl],
  ['dro', rl],
])
const optional = ['weights', 'clip_low_threshold', 'clip_high_threshold']

/** Throws an error that names the datum and the position, for the first fault that is found. */
export function checkDatums(data: readonly Datum[], loss: NamedLoss, vocabSize = 2 ** 31): void {
  if (data.length === 0) throw invalid('the batch is empty', 'send at least one datum.')
  for (const [key, value] of Object.entries(loss.config ?? {})) {
    if (!Number.isFinite(value)) throw invalid(`loss setting ${key} is ${value}`, 'settings are finite numbers.')
  }
  for (const [index, datum] of data.entries()) checkDatum(datum, `datum ${index}`, loss, vocabSize)
}

function checkDatum({ tokens, lossInputs }: Datum, at: string, { name }: NamedLoss, vocabSize: number): void {
  if (tokens.length === 0) throw invalid(`${at} has no tokens`, 'leave out empty sequences.')
  checkTokens(tokens, `${at}: tokens`, vocabSize)
  const needs = required.get(name)
  for (const input of needs ?? []) {
    if (lossInputs[input] === undefined) throw invalid(`${at} lacks ${input}`, `${name} needs ${needs?.join(', ')}.`)
  }
  for (const [input, tensor] of Object.entries(lossInputs)) {
    if (needs !== undefined && !needs.includes(input) && !optional.includes(input)) {
      const fix = `${name} takes ${[...needs, ...optional].join(', ')}; fold a mask into weights or advantages.`
      throw invalid(`${at}: ${input} is no input of ${name}`, fix)
    }
    checkTensor(tensor, `${at}: ${input}`, tokens.length)
    if (input === 'target_tokens') checkTokens(tensor.data, `${at}: target_tokens`, vocabSize)
    else checkFinite(tensor.data, `${at}: ${input}`)
  }
}

function checkTensor({ data, shape }: Tensor, at: string, positions: number): void {
  const size = tinker.sizeOfShape(shape)
  if (size !== data.length)
    throw invalid(`${at} has ${data.length} values, its shape has ${size}`, 'correct its shape.')
  if (shape[0] !== positions) {
    throw invalid(`${at} has ${shape[0] ?? 0} positions, the datum has ${positions} tokens`, 'give one per token.')
  }
}

function checkTokens(values: Tensor['data'], at: string, vocabSize: number): void {
  for (let position = 0; position < values.length; position++) {
    const token = values[position] ?? -1
    if (!(Number.isInteger(token) && token >= 0 && token < vocabSize)) {
      throw invalid(`${at}[${position}] is ${token}, which is no token id`, 'token ids count from 0.')
    }
  }
}

function checkFinite(values: Tensor['data'], at: string): void {
  for (let position = 0; position < values.length; position++) {
    if (!Number.isFinite(values[position])) {
      throw invalid(
        `${at}[${position}] is ${values[position]}`,
        'use finite numbers; 0 where a position does not count.',
      )
    }
  }
}

function invalid(message: string, fix: string): ServiceError {
  return new ServiceError('invalid', message, { fix })
}

// A loss that the caller computes, through a service that knows only named ones. Cross entropy is the sum of -w p, so with
// w = -dC/dp its gradient is that of C. Two passes: one for p, one that carries the gradient.
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
