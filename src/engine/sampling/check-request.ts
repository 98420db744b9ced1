import type { SampleReq } from '../../contracts/index.ts'
import type { DataLimits } from '../losses/checked-data.ts'
import { refused } from '../refused.ts'

/** What can be asked of one request: it is computed in one go, and its answer is held in memory. */
const most = { numSamples: 1_000_000, maxTokens: 100_000_000, topKPromptLogprobs: 10_000 }

/** Refuses a request for samples that no model with these limits could answer. */
export function checkRequest(request: Omit<SampleReq, 'model'>, { vocabSize, maxTokens: context }: DataLimits): void {
  const { prompt, numSamples, maxTokens, temperature, topP, topK, stop = [], seed, topKPromptLogprobs } = request
  if (prompt.length === 0) throw refused('the prompt is empty', 'give it at least one token.')
  if (context !== undefined && prompt.length > context) {
    throw refused(`the prompt has ${prompt.length} tokens`, `the model’s context is ${context}: shorten it.`)
  }
  const strange = prompt.findIndex((token) => !(token >= 0 && token < vocabSize))
  if (strange !== -1) {
    throw refused(
      `the prompt’s token ${strange} is ${prompt[strange]}, which the model does not know`,
      `tokens go from 0 to ${vocabSize - 1}.`,
    )
  }
  checkCount('numSamples', numSamples, 1)
  checkCount('maxTokens', maxTokens, 1)
  if (topKPromptLogprobs !== undefined) checkCount('topKPromptLogprobs', topKPromptLogprobs, 0)
  if (!(temperature >= 0 && temperature < Number.POSITIVE_INFINITY))
    throw refused(`temperature is ${temperature}`, 'use 0 or more.')
  if (topP !== undefined && !(topP > 0 && topP <= 1))
    throw refused(`topP is ${topP}`, 'use a number above 0, at most 1.')
  if (topK !== undefined && !Number.isSafeInteger(topK))
    throw refused(`topK is ${topK}`, 'use a whole number; -1 is no limit.')
  if (!Number.isSafeInteger(seed)) throw refused(`seed is ${seed}`, 'use a whole number.')
  if (stop.some((each) => each === '')) throw refused('a stop text is empty', 'leave it out.')
}

/** Refuses to draw from what is no distribution. */
export function checkLogprobs(logprobs_V: Float64Array): void {
  let isNumber = true
  for (let v = 0; v < logprobs_V.length; v++) isNumber &&= !Number.isNaN(logprobs_V[v])
  if (isNumber) return
  throw refused('the weights are not finite: training has diverged', 'lower the learning rate, or clip the gradient.')
}

function checkCount(name: keyof typeof most, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most[name]) return
  throw refused(`${name} is ${value}`, `use a whole number from ${least} to ${most[name]}.`)
}
