// Faults of a batch that can be seen before it is sent. Sent, they would come back as one sentence about one of a thousand
// datums, or as a result that is quietly wrong.
import type { Datum, NamedLoss, Tensor } from '../contracts/index.ts'
import * as tinker from '../contracts/tinker/index.ts'
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
