// A request for samples on its way: first its prompt is read, then each sample is drawn token by token. A draw is addressed by the
// request's seed, the number of the sample and the position: it does not depend on what is computed beside it. Requests that differ
// in nothing but that, as those of a group of rollouts do, are one job: their prompt is read once.
import { isDeepStrictEqual } from 'node:util'
import type { Sample, SampleReq } from '../../contracts/index.ts'
import { type KeyedRandom, keyedRandom } from '../../kernel/index.ts'
import type { Decode } from '../files/model-spec.ts'
import { checkLogprobs, checkRequest } from '../sampling/check-request.ts'
import {
  type Candidate,
  drawToken,
  greedyToken,
  type NextToken,
  nextToken,
  type StopTest,
  stopTest,
} from '../sampling/next-token.ts'
import { type PromptScorer, promptScorer } from '../sampling/prompt-scores.ts'
import { pagesFor } from './cache-pool.ts'
import type { CpuModel } from './cpu-model.ts'
import { pageSize } from './ops.ts'
import { drawFromRow, type LogitRow, logprobsOf, shapingScale } from './pass-head.ts'

/** Who waits for samples. */
export type Asker = {
  readonly signal: AbortSignal
  resolve(samples: readonly Sample[]): void
  reject(error: unknown): void
}

/** One of the requests that a job answers. */
export type Asked = {
  readonly asker: Asker
  readonly seed: number
  readonly numSamples: number
  readonly samples: Sample[]
  started: number
  answered: number
}

/** One sample being drawn. */
export type Sequence = {
  readonly asked: Asked
  readonly index: number
  readonly random: KeyedRandom
  readonly tokens: number[]
  readonly logprobs: number[]
  /** The prompt's whole pages, then its own. */
  readonly pages: readonly number[]
  readonly own: readonly number[]
}

export class SampleJob {
  readonly model: CpuModel
  readonly request: Omit<SampleReq, 'model'>
  /** Tokens of the prompt that are in the cache. */
  read = 0
  promptPages: readonly number[] = []
  /** Pages of a sample that has not begun. */
  spare: readonly number[] | undefined
  readonly active = new Set<Sequence>()
  /** Most tokens of a sample. The last token of a full context is drawn but not read. */
  readonly limit: number
  /** What logits are multiplied by before a token is drawn. */
  readonly scale: number
  readonly #isStop: StopTest
  readonly #scorer: PromptScorer
  #asked: Asked[]
  #first: NextToken | Candidate | undefined

  constructor(model: CpuModel, request: Omit<SampleReq, 'model'>, asker: Asker, decode: Decode | undefined) {
    const { vocabSize, maxPositions } = model.base.shape
    checkRequest(request, { vocabSize, maxTokens: maxPositions })
    this.model = model
    this.request = request
    this.limit = Math.min(request.maxTokens, maxPositions - request.prompt.length + 1)
    this.scale = shapingScale(request) ?? 1
    this.#isStop = stopTest(request, decode)
    this.#scorer = promptScorer(request)
    const { seed, numSamples } = request
    this.#asked = [{ asker, seed, numSamples, samples: [], started: 0, answered: 0 }]
  }

  /** Requests that wait for samples. */
  get asked(): readonly Asked[] {
    return this.#asked
  }

  /** Takes in the requests of another job; false where the two differ in more than their draws. */
  join(other: SampleJob): boolean {
    if (!this.#isLike(other)) return false
    this.#asked.push(...other.#asked)
    return true
  }

  /** Forgets a request; its samples that were being drawn. */
  drop(asked: Asked): Sequence[] {
    this.#asked = this.#asked.filter((each) => each !== asked)
    const dropped = [...this.active].filter((sequence) => sequence.asked === asked)
    for (const sequence of dropped) this.active.delete(sequence)
    return dropped
  }

  // Scores of a prompt come with samples: requests for them stay alone.
  #isLike(other: SampleJob): boolean {
    const { prompt, temperature, topP, topK, stop } = this.request
    const { request } = other
    return (
      other.model === this.model &&
      other.limit === this.limit &&
      temperature === request.temperature &&
      topP === request.topP &&
      topK === request.topK &&
      !this.#isScored &&
      !other.#isScored &&
      prompt.length === request.prompt.length &&
      prompt.every((token, at) => token === request.prompt[at]) &&
      isDeepStrictEqual(stop, request.stop)
    )
  }

  get #isScored(): boolean {
    const { promptLogprobs, topKPromptLogprobs = 0 } = this.request
    return promptLogprobs === true || topKPromptLogprobs > 0
  }

  /** Whole pages of the prompt, which all samples share. */
  get sharedPages(): readonly number[] {
    return this.promptPages.slice(0, Math.floor(this.request.prompt.length / pageSize))
  }

  /** Pages that each sample needs for itself. */
  get pagesPerSample(): number {
    const { length } = this.request.prompt
    return this.limit === 1 ? 0 : pagesFor(length + this.limit - 1) - Math.floor(length / pageSize)
  }

  /** First token whose row is wanted; all are where the prompt is scored. */
  get firstScored(): number {
    return this.#isScored ? 0 : this.request.prompt.length - 1
  }

  /** Takes what the prompt up to `at` says of the next token. */
  takePrompt(at: number, row: LogitRow): void {
    const logprobs_V = logprobsOf(row)
    if (at < this.request.prompt.length - 1) this.#scorer.add(at, logprobs_V)
    else {
      checkLogprobs(logprobs_V)
      this.#first = this.request.temperature === 0 ? greedyToken(logprobs_V) : nextToken(logprobs_V, this.request)
    }
  }

  get hasMore(): boolean {
    return this.#next !== undefined
  }

  /** Whether a request waits for its first sample. */
  get isUnbegun(): boolean {
    return this.#next?.started === 0
  }

  // Of the request that has got least: one for a thousand samples goes before none that came later.
  get #next(): Asked | undefined {
    let next: Asked | undefined
    for (const each of this.#asked)
      if (each.started < each.numSamples && (next === undefined || each.started < next.started)) next = each
    return next
  }

  /** Requests whose samples are all there. */
  get finished(): Asked[] {
    return this.#asked.filter(({ answered, numSamples }) => answered === numSamples)
  }

  /** Draws the first token of the next sample; undefined where the sample has ended with it. */
  start(own: readonly number[]): Sequence | undefined {
    const asked = this.#next
    const first = this.#first
    if (asked === undefined || first === undefined) throw new Error('the prompt was not read, or there is no request')
    const index = asked.started++
    const random = keyedRandom(asked.seed, 'engine', 'sample', index) // one draw per position, in their order
    const pages = [...this.sharedPages, ...own]
    const sequence: Sequence = { asked, index, random, tokens: [], logprobs: [], own, pages }
    const uniform = random.float()
    if (this.#take(sequence, 'cumulative' in first ? drawToken(first, uniform) : first)) return undefined
    this.active.add(sequence)
    return sequence
  }

  /** Draws the next token; true where the sample has ended with it. */
  draw(sequence: Sequence, row: LogitRow): boolean {
    return this.#take(sequence, drawFromRow(row, this.request, sequence.random.float()))
  }

  #take(sequence: Sequence, { token, logprob }: Candidate): boolean {
    const { asked, tokens, logprobs, index } = sequence
    tokens.push(token)
    logprobs.push(logprob)
    const stops = this.#isStop(tokens)
    if (!stops && tokens.length < this.limit) return false
    asked.samples[index] = {
      tokens: Int32Array.from(tokens),
      logprobs: Float64Array.from(logprobs),
      stopReason: stops ? 'stop' : 'length',
      ...this.#scorer.scores,
    }
    asked.answered++
    this.active.delete(sequence)
    return true
  }
}
