// Samples of a bigram model. A draw is addressed by the request's seed and the number of the sample, so a sample does not depend
// on how many others are asked for.
import type { Sample, SampleReq } from '../../contracts/index.ts'
import { keyedRandom } from '../../kernel/index.ts'
import { checkLogprobs, checkRequest } from '../sampling/check-request.ts'
import { drawToken, greedyToken, type NextToken, nextToken } from '../sampling/next-token.ts'
import { promptScorer } from '../sampling/prompt-scores.ts'
import type { BigramModel } from './bigram-model.ts'

type Request = Omit<SampleReq, 'model'>

/** Samples of one request, one after the other: the caller decides when to go on. */
export function* drawSamples(model: BigramModel, request: Request): Generator<Sample, void> {
  checkRequest(request, { vocabSize: model.spec.vocabSize })
  checkLogprobs(model.logprobs(request.prompt.at(-1) ?? 0))
  const scorer = promptScorer(request)
  for (const [at, token] of request.prompt.entries()) scorer.add(at, model.logprobs(token))
  // A token of this model is a byte.
  const stops = (request.stop ?? []).map((stop) => (typeof stop === 'number' ? [stop] : [...Buffer.from(stop, 'utf8')]))
  const known = new Map<number, NextToken>()
  const next = (previous: number) => {
    const made = known.get(previous) ?? nextToken(model.logprobs(previous), request)
    known.set(previous, made)
    return made
  }
  for (let index = 0; index < request.numSamples; index++) {
    yield { ...drawOne(model, request, { stops, index, next }), ...scorer.scores }
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
    const drawn =
      request.temperature === 0 ? greedyToken(model.logprobs(previous)) : drawToken(next(previous), random.float())
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

function endsWith(tokens: readonly number[], stop: readonly number[]): boolean {
  const start = tokens.length - stop.length
  return start >= 0 && stop.every((token, index) => tokens[start + index] === token)
}
