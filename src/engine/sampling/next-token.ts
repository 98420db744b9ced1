// The distribution that the next token is drawn from: temperature, top-k, top-p.
import type { SampleReq } from '../../contracts/index.ts'
import type { Decode } from '../files/model-spec.ts'
import { refused } from '../refused.ts'
import { likeliestTokens } from './prompt-scores.ts'

export type Candidate = { token: number; logprob: number }

/** The likeliest token, the first of equals. Its log-probability is the model's own: that of a certain choice, 0, says nothing. */
export function greedyToken(logprobs_V: Float64Array): Candidate {
  let token = 0
  for (let v = 1; v < logprobs_V.length; v++) if ((logprobs_V[v] ?? 0) > (logprobs_V[token] ?? 0)) token = v
  return { token, logprob: logprobs_V[token] ?? 0 }
}

export function logSoftmax(logits_V: Float64Array): Float64Array {
  const size = logits_V.length
  let largest = Number.NEGATIVE_INFINITY
  for (let v = 0; v < size; v++) largest = Math.max(largest, logits_V[v] ?? 0)
  let sum = 0
  for (let v = 0; v < size; v++) sum += Math.exp((logits_V[v] ?? 0) - largest)
  const normalizer = largest + Math.log(sum)
  const logprobs_V = new Float64Array(size)
  for (let v = 0; v < size; v++) logprobs_V[v] = (logits_V[v] ?? 0) - normalizer
  return logprobs_V
}

/** Draws a token with a number from [0, 1). At temperature 0 it is the likeliest. */
export function sampleToken(logprobs_V: Float64Array, request: Shaping, uniform: number): Candidate {
  const { temperature, topK, topP } = request
  if (temperature === 0) return greedyToken(logprobs_V)
  const isShaped = temperature !== 1 || (topK !== undefined && topK > 0) || (topP !== undefined && topP < 1)
  if (isShaped) return drawToken(nextToken(logprobs_V, request), uniform)
  // The model's own distribution: summed up to the token alone, in the order that `nextToken` sums.
  let sum = 0
  for (let token = 0; token < logprobs_V.length; token++) {
    const logprob = logprobs_V[token] ?? 0
    sum += Math.exp(logprob)
    if (uniform < sum) return { token, logprob }
  }
  const last = logprobs_V.length - 1
  return { token: last, logprob: logprobs_V[last] ?? 0 }
}

type Shaping = Pick<SampleReq, 'temperature' | 'topK' | 'topP'>

/** The tokens that are left, in the vocabulary's order, with the sums of their probabilities so far. */
export interface NextToken {
  readonly tokens: Int32Array
  readonly logprobs: Float64Array
  readonly cumulative: Float64Array
}

/** What the next token is drawn from at a temperature above 0. */
export function nextToken(logprobs_V: Float64Array, { temperature, topK, topP }: Shaping): NextToken {
  const limitsK = topK !== undefined && topK > 0 && topK < logprobs_V.length
  const limitsP = topP !== undefined && topP < 1
  let kept: Int32Array
  if (limitsK) {
    kept = likeliestTokens(logprobs_V, topK)
    if (limitsP) kept = kept.subarray(0, nucleusSize(normalized(logprobs_V, kept, temperature), topP))
  } else kept = limitsP ? nucleus(logprobs_V, temperature, topP) : Int32Array.from(logprobs_V.keys())
  if (limitsK || limitsP) kept = kept.toSorted()
  // With nothing changed these are the model's own log-probabilities, to the last bit: those that training sees.
  const isPlain = temperature === 1 && kept.length === logprobs_V.length
  const logprobs = isPlain ? logprobs_V : normalized(logprobs_V, kept, temperature)
  return { tokens: kept, logprobs, cumulative: cumulated(logprobs) }
}

/** The token that a number from [0, 1) stands for. */
export function drawToken({ tokens, logprobs, cumulative }: NextToken, uniform: number): Candidate {
  const found = cumulative.findIndex((sum) => uniform < sum)
  const at = found === -1 ? tokens.length - 1 : found // rounding left a sliver above the last
  return { token: tokens[at] ?? 0, logprob: logprobs[at] ?? 0 }
}

// The likeliest tokens that reach the probability topP together. They are few as a rule, so only as many are put in order.
function nucleus(logprobs_V: Float64Array, temperature: number, topP: number): Int32Array {
  const normalizer = normalizerOf(logprobs_V.map((logprob) => logprob / temperature))
  for (let count = 64; ; count *= 8) {
    const tokens = likeliestTokens(logprobs_V, Math.min(count, logprobs_V.length))
    const logprobs = Float64Array.from(tokens, (token) => (logprobs_V[token] ?? 0) / temperature - normalizer)
    const isEnough = logprobs.reduce((sum, logprob) => sum + Math.exp(logprob), 0) >= topP
    if (isEnough || tokens.length === logprobs_V.length) return tokens.subarray(0, nucleusSize(logprobs, topP))
  }
}

// How many of the likeliest tokens it takes to reach the probability topP.
function nucleusSize(logprobs: Float64Array, topP: number): number {
  const last = cumulated(logprobs).findIndex((sum) => sum >= topP)
  return last === -1 ? logprobs.length : last + 1
}

function cumulated(logprobs: Float64Array): Float64Array {
  let sum = 0
  return logprobs.map((logprob) => {
    sum += Math.exp(logprob)
    return sum
  })
}

function normalized(logprobs_V: Float64Array, tokens: Int32Array, temperature: number): Float64Array {
  const scaled = Float64Array.from(tokens, (token) => (logprobs_V[token] ?? 0) / temperature)
  const normalizer = normalizerOf(scaled)
  return scaled.map((value) => value - normalizer)
}

function normalizerOf(values: Float64Array): number {
  const largest = values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY)
  return largest + Math.log(values.reduce((sum, value) => sum + Math.exp(value - largest), 0))
}

/** Whether a completion ends with these tokens, at a stop token or text. */
export type StopTest = (tokens: readonly number[]) => boolean

/** Where a request stops. */
export type StopRequest = Pick<SampleReq, 'stop'>

/** Whether a request stops at a text: then tokens must be decoded. */
export function stopsAtText({ stop = [] }: StopRequest): boolean {
  return stop.some((each) => typeof each === 'string')
}

/** The test of a request. */
export function stopTest({ stop = [] }: StopRequest, decode: Decode | undefined): StopTest {
  const ids = new Set(stop.filter((each) => typeof each === 'number'))
  const texts = stop.filter((each) => typeof each === 'string')
  if (texts.length > 0 && decode === undefined) {
    throw refused('the request stops at a text, and this engine was opened without a tokenizer', 'stop at token ids.')
  }
  return (tokens) => {
    if (ids.has(tokens.at(-1) ?? -1)) return true
    if (texts.length === 0 || decode === undefined) return false
    const text = decode(tokens)
    return texts.some((each) => text.includes(each))
  }
}
