// Completions of a prompt, token by token with a cache. A draw is addressed by the request's seed, the number of the sample and
// the position, so a sample does not depend on how many others are asked for.
import type { Sample, SampleReq } from '../../contracts/index.ts'
import { keyedRandom } from '../../kernel/index.ts'
import type { Decode } from '../files/model-spec.ts'
import type { Breathe } from '../in-process-engine.ts'
import { checkLogprobs, checkRequest } from '../sampling/check-request.ts'
import { type StopTest, sampleToken, stopTest } from '../sampling/next-token.ts'
import { promptScorer } from '../sampling/prompt-scores.ts'
import { KvCache } from './attention.ts'
import type { ReferenceModel } from './reference-model.ts'
import { forward, logprobsAt } from './transformer.ts'

type Request = Omit<SampleReq, 'model'>

export type SampleTools = { decode?: Decode | undefined; breathe: Breathe }

/** The samples of one request. The prompt is computed once for all of them. */
export async function drawSamples(model: ReferenceModel, request: Request, tools: SampleTools): Promise<Sample[]> {
  const { vocabSize, maxPositions, layers, hiddenSize } = model.shape
  checkRequest(request, { vocabSize, maxTokens: maxPositions })
  const isStop = stopTest(request, tools.decode)
  const caches = Array.from({ length: layers }, () => new KvCache())
  const trace = await forward(model, request.prompt, { caches, breathe: tools.breathe })
  const scorer = promptScorer(request)
  const isScored = request.promptLogprobs === true || (request.topKPromptLogprobs ?? 0) > 0
  for (let t = 0; isScored && t < request.prompt.length - 1; t++) {
    scorer.add(t, logprobsAt(model, trace, t))
    await tools.breathe(vocabSize * hiddenSize)
  }
  const first_V = logprobsAt(model, trace, request.prompt.length - 1)
  const kept = caches.map(({ length }) => length)
  const samples: Sample[] = []
  for (let index = 0; index < request.numSamples; index++) {
    for (const [layer, cache] of caches.entries()) cache.truncate(kept[layer] ?? 0)
    const sample = await drawOne(model, request, { first_V, caches, index, isStop, breathe: tools.breathe })
    samples.push({ ...sample, ...scorer.scores })
  }
  return samples
}

type Start = { first_V: Float64Array; caches: readonly KvCache[]; index: number; isStop: StopTest; breathe: Breathe }

async function drawOne(
  model: ReferenceModel,
  request: Request,
  { first_V, caches, index, isStop, breathe }: Start,
): Promise<Sample> {
  const random = keyedRandom(request.seed, 'engine', 'sample', index) // one draw per position, in their order
  const tokens: number[] = []
  const logprobs: number[] = []
  // The last token of a full context is drawn but not read.
  const limit = Math.min(request.maxTokens, model.shape.maxPositions - request.prompt.length + 1)
  let row_V = first_V
  for (;;) {
    checkLogprobs(row_V)
    const drawn = sampleToken(row_V, request, random.float())
    tokens.push(drawn.token)
    logprobs.push(drawn.logprob)
    const stops = isStop(tokens)
    if (stops || tokens.length === limit) {
      const stopReason = stops ? 'stop' : 'length'
      return { tokens: Int32Array.from(tokens), logprobs: Float64Array.from(logprobs), stopReason }
    }
    const start = request.prompt.length + tokens.length - 1
    const trace = await forward(model, [drawn.token], { start, caches, breathe })
    row_V = logprobsAt(model, trace, 0)
  }
}
