// Sampling: temperature, top-k, top-p, stops. A draw is addressed by the request's seed and the number of the sample, so a sample
// does not depend on how many others are asked for.
import type { Sample, SampleReq, TopKLogprobs } from '../../contracts/index.ts'
import { keyedRandom } from '../../kernel/index.ts'
import type { BigramModel } from './bigram-model.ts'
import { refused } from './refused.ts'

type Request = Omit<SampleReq, 'model'>

/** Samples of one request, one after the other: the caller decides when to go on. */
export function* drawSamples(model: BigramModel, request: Request): Generator<Sample, void> {
  check(model, request)
  const shared = {
    ...(request.promptLogprobs ? { promptLogprobs: promptLogprobs(model, request.prompt) } : {}),
    ...(request.topKPromptLogprobs
      ? { topKPromptLogprobs: topKLogprobs(model, request.prompt, request.topKPromptLogprobs) }
      : {}),
  }
  const stops = (request.stop ?? []).map((stop) => (typeof stop === 'number' ? [stop] : [...Buffer.from(stop, 'utf8')]))
  const known = new Map<number, NextToken>()
  const next = (previous: number) => {
    const made = known.get(previous) ?? nextToken(model.logprobs(previous), request)
    known.set(previous, made)
    return made
  }
  for (let index = 0; index < request.numSamples; index++) {
    yield { ...drawOne(model, request, { stops, index, next }), ...shared }
  }
}

function drawOne(
  model: BigramModel,
  request: Request,
  {
    stops,
    index,
    next,
  }: { stops: readonly (readonly number[])[]; index: number; next: (previous: number) => NextToken },
): Sample {
  const random = keyedRandom(request.seed, 'mock', 'sample', index)
  const tokens: number[] = []
  const logprobs: number[] = []
  let previous = request.prompt.at(-1) ?? 0
  let stopReason: Sample['stopReason'] = 'length'
  while (tokens.length < request.maxTokens) {
    const drawn = request.temperature === 0 ? greedy(model.logprobs(previous)) : draw(next(previous), random.float())
    tokens.push(drawn.token)
    logprobs.push(drawn.logprob)
    previous = drawn.token
    if (stops.some((stop) => endsWith(tokens, stop))) {
      stopReason = 'stop'
      break
    }
  }
  return { tokens: Int32Array.from(tokens), logprobs: Float64Array.from(logprobs), stopReason }
}

type Candidate = { token: number; logprob: number }

// The likeliest token, the first of equals. Its log-probability is the model's own: that of a certain choice, 0, tells nothing.
function greedy(row_U: Float64Array): Candidate {
  let token = 0
  for (let u = 1; u < row_U.length; u++) if ((row_U[u] ?? 0) > (row_U[token] ?? 0)) token = u
  return { token, logprob: row_U[token] ?? 0 }
}

/** The distribution of the next token: the tokens that are left, in order, with the sums of their probabilities so far. */
interface NextToken {
  readonly tokens: Int32Array
  readonly logprobs: Float64Array
  readonly cumulative: Float64Array
}

function nextToken(row_U: Float64Array, { temperature, topK, topP }: Request): NextToken {
  const limitsK = topK !== undefined && topK > 0 && topK < row_U.length
  const limitsP = topP !== undefined && topP < 1
  let kept = Int32Array.from(row_U.keys())
  if (limitsK || limitsP) {
    kept.sort((a, b) => (row_U[b] ?? 0) - (row_U[a] ?? 0) || a - b)
    if (limitsK) kept = kept.subarray(0, topK)
    if (limitsP) kept = kept.subarray(0, nucleusSize(normalized(row_U, kept, temperature), topP))
    kept = kept.toSorted()
  }
  const logprobs = normalized(row_U, kept, temperature)
  return { tokens: kept, logprobs, cumulative: cumulated(logprobs) }
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

function normalized(row_U: Float64Array, tokens: Int32Array, temperature: number): Float64Array {
  const scaled = Float64Array.from(tokens, (token) => (row_U[token] ?? 0) / temperature)
  const largest = scaled.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY)
  const normalizer = largest + Math.log(scaled.reduce((sum, value) => sum + Math.exp(value - largest), 0))
  return scaled.map((value) => value - normalizer)
}

function draw({ tokens, logprobs, cumulative }: NextToken, uniform: number): Candidate {
  const found = cumulative.findIndex((sum) => uniform < sum)
  const at = found === -1 ? tokens.length - 1 : found // rounding left a sliver above the last
  return { token: tokens[at] ?? 0, logprob: logprobs[at] ?? 0 }
}

function endsWith(tokens: readonly number[], stop: readonly number[]): boolean {
  const start = tokens.length - stop.length
  return start >= 0 && stop.every((token, index) => tokens[start + index] === token)
}

function promptLogprobs(model: BigramModel, prompt: Int32Array): Float64Array {
  return Float64Array.from(prompt, (token, at) =>
    at === 0 ? Number.NaN : (model.logprobs(prompt[at - 1] ?? 0)[token] ?? Number.NaN),
  )
}

function topKLogprobs(model: BigramModel, prompt: Int32Array, k: number): TopKLogprobs {
  const tokens = new Int32Array(prompt.length * k).fill(-1)
  const logprobs = new Float64Array(prompt.length * k).fill(Number.NaN)
  for (let at = 1; at < prompt.length; at++) {
    const row_U = model.logprobs(prompt[at - 1] ?? 0)
    const best = Array.from(row_U.keys()).sort((a, b) => (row_U[b] ?? 0) - (row_U[a] ?? 0) || a - b)
    for (const [rank, token] of best.slice(0, k).entries()) {
      tokens[at * k + rank] = token
      logprobs[at * k + rank] = row_U[token] ?? Number.NaN
    }
  }
  return { k, tokens, logprobs }
}

function check(model: BigramModel, request: Request): void {
  const { prompt, numSamples, maxTokens, temperature, topP, topK, stop = [], seed, topKPromptLogprobs } = request
  const { vocabSize } = model.spec
  if (prompt.length === 0) throw refused('the prompt is empty', 'give it at least one token.')
  if (prompt.some((token) => token < 0 || token >= vocabSize)) {
    throw refused('the prompt holds a token that the model does not know', `tokens go from 0 to ${vocabSize - 1}.`)
  }
  const wholes = {
    numSamples,
    maxTokens,
    ...(topKPromptLogprobs === undefined ? {} : { topKPromptLogprobs: topKPromptLogprobs + 1 }),
  }
  for (const [name, value] of Object.entries(wholes)) {
    if (!Number.isSafeInteger(value) || value < 1)
      throw refused(`${name} must be a whole number of at least 1`, 'correct it.')
  }
  if (!(temperature >= 0 && temperature < Number.POSITIVE_INFINITY))
    throw refused(`temperature is ${temperature}`, 'use 0 or more.')
  if (topP !== undefined && !(topP > 0 && topP <= 1))
    throw refused(`topP is ${topP}`, 'use a number above 0, at most 1.')
  if (topK !== undefined && !Number.isSafeInteger(topK))
    throw refused(`topK is ${topK}`, 'use a whole number; -1 is no limit.')
  if (!Number.isSafeInteger(seed)) throw refused(`seed is ${seed}`, 'use a whole number.')
  if (stop.some((each) => each === '')) throw refused('a stop text is empty', 'leave it out.')
  if (model.logprobs(prompt.at(-1) ?? 0).some(Number.isNaN)) {
    throw refused('the weights are not finite: training has diverged', 'lower the learning rate, or clip the gradient.')
  }
}
