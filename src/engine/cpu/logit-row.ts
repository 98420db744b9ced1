// What the model says of one next token, as it lies in the arena, and a token drawn from it.
import type { SampleReq } from '../../contracts/index.ts'
import { checkLogprobs } from '../sampling/check-request.ts'
import { type Candidate, sampleToken } from '../sampling/next-token.ts'
import { massBlock } from './ops.ts'

/** Valid until the next pass. */
export type LogitRow = {
  readonly logits: Float32Array
  /** Logarithm of the sum of their exponentials. */
  readonly normalizer: number
  /** Probability of each block of tokens. */
  readonly masses: Float32Array
}

/** All log-probabilities. Rounded as the kernels round them: these are the ones that training sees. */
export function logprobsOf({ logits, normalizer }: LogitRow): Float64Array {
  const logprobs_V = new Float64Array(logits.length)
  for (let v = 0; v < logits.length; v++) logprobs_V[v] = logprobOf(logits, v, normalizer)
  return logprobs_V
}

type Shaping = Pick<SampleReq, 'temperature' | 'topK' | 'topP'>

/** What logits are multiplied by before a token is drawn from them; undefined where that is not all there is to do. */
export function shapingScale({ temperature, topK, topP }: Shaping): number | undefined {
  if (temperature === 0) return 1
  return (topK !== undefined && topK > 0) || (topP !== undefined && topP < 1) ? undefined : 1 / temperature
}

/** Draws a token with a number from [0, 1). The row was scaled before, where scaling is all of the shaping. */
export function drawFromRow(row: LogitRow, request: Shaping, uniform: number): Candidate {
  if (Number.isNaN(row.normalizer)) checkLogprobs(logprobsOf(row))
  if (request.temperature === 0) return likeliest(row)
  if (shapingScale(request) === undefined) return sampleToken(logprobsOf(row), request, uniform)
  const { logits, normalizer, masses } = row
  let [sum, token] = [0, 0]
  for (let block = 0; block < masses.length; block++) {
    const next = sum + (masses[block] ?? 0)
    if (uniform < next) break
    sum = next
    token += massBlock
  }
  for (; token < logits.length; token++) {
    const logprob = logprobOf(logits, token, normalizer)
    sum += Math.exp(logprob)
    if (uniform < sum) return { token, logprob }
  }
  const last = logits.length - 1 // rounding left a sliver above it
  return { token: last, logprob: logprobOf(logits, last, normalizer) }
}

function likeliest({ logits, normalizer }: LogitRow): Candidate {
  let token = 0
  for (let v = 1; v < logits.length; v++) if ((logits[v] ?? 0) > (logits[token] ?? 0)) token = v
  return { token, logprob: logprobOf(logits, token, normalizer) }
}

function logprobOf(logits: Float32Array, token: number, normalizer: number): number {
  return Math.fround((logits[token] ?? Number.NaN) - normalizer)
}
