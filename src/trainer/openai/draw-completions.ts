// Completions as text: drawn by the same weights and kernels as samples of the training protocol, then cut where they stop.
import type { Sample, Tokenizer } from '../../contracts/index.ts'
import { checkRequest } from '../../engine/index.ts'
import { systemRandom } from '../../kernel/index.ts'
import { unprocessable } from '../http/http-error.ts'
import { safeSeed } from '../operations/create-model.ts'
import { checkCount, drawSamples, type Target } from '../operations/samplers.ts'
import type { Access } from '../state/access.ts'
import { at } from '../wire/wire-data.ts'

export type DrawOptions = {
  readonly prompt: Int32Array
  readonly maxTokens: number | undefined
  readonly temperature: number
  readonly topP: number | undefined
  readonly n: number
  readonly seed: number | undefined
  /** Tokens that end an answer; they are not part of its text. */
  readonly stopTokens: readonly number[]
  readonly stopTexts: readonly string[]
  /** How many of the likeliest tokens to report at each position. */
  readonly topLogprobs: number
}

type Scored = { readonly text: string; readonly logprob: number }

export interface Completion {
  readonly tokens: readonly (Scored & { readonly id: number; readonly top: readonly Scored[] })[]
  /** Tokens of the answer proper, without what ended it. */
  readonly answer: Int32Array
  readonly text: string
  readonly finishReason: 'stop' | 'length'
  /** With what ended it: this was computed. */
  readonly tokenCount: number
}

export async function drawCompletions(
  access: Access,
  target: Target,
  tokenizer: Tokenizer,
  options: DrawOptions,
  client: AbortSignal,
): Promise<Completion[]> {
  const { state } = access
  const { base } = target
  const { prompt, topP } = options
  const room = base.maxContext - prompt.length
  const request = {
    prompt,
    numSamples: options.n,
    maxTokens: options.maxTokens ?? room,
    temperature: options.temperature,
    topP,
    stop: options.stopTokens,
    seed: options.seed === undefined ? systemRandom.uint32() : safeSeed(options.seed),
  }
  if (request.maxTokens > room || room < 1) {
    throw unprocessable(['max_tokens'], `the prompt has ${prompt.length} tokens: the context is ${base.maxContext}`)
  }
  checkCount(['n'], options.n, state.limits.samples)
  at(['body'], () => checkRequest(request, { vocabSize: base.vocabSize, maxTokens: base.maxContext }))
  access.checkSampleQuota()
  const samples = await drawSamples(access, target, request, client)
  const completions: Completion[] = []
  for (const sample of samples) {
    const top = options.topLogprobs === 0 ? undefined : await likeliest(access, target, options, sample, client)
    completions.push(finish(sample, tokenizer, options, top))
  }
  return completions
}

type Likeliest = { k: number; tokens: Int32Array; logprobs: Float64Array }

// What else could have come at each position: the prompt scores of the whole text hold it.
async function likeliest(
  access: Access,
  target: Target,
  { prompt, topLogprobs: k }: DrawOptions,
  sample: Sample,
  client: AbortSignal,
) {
  const whole = Int32Array.from([...prompt, ...sample.tokens])
  const request = { prompt: whole, numSamples: 1, maxTokens: 1, temperature: 0, seed: 0, topKPromptLogprobs: k }
  const [scored] = await drawSamples(access, target, request, client)
  const scores = scored?.topKPromptLogprobs
  if (scores === undefined) throw new TypeError('the engine answered without prompt scores')
  const from = prompt.length * scores.k
  return { k: scores.k, tokens: scores.tokens.subarray(from), logprobs: scores.logprobs.subarray(from) }
}

function finish(sample: Sample, tokenizer: Tokenizer, options: DrawOptions, top: Likeliest | undefined): Completion {
  const { tokens, logprobs, stopReason } = sample
  const isEnded = stopReason === 'stop' && options.stopTokens.includes(tokens.at(-1) ?? -1)
  const full = isEnded ? tokens.subarray(0, -1) : tokens
  const { answer, text, isCut } = cut(full, tokenizer, options.stopTexts)
  const name = (id: number) => tokenizer.decode(Int32Array.of(id))
  return {
    answer,
    text,
    tokens: Array.from(answer, (id, position) => ({
      id,
      text: name(id),
      logprob: logprobs[position] ?? 0,
      top: Array.from({ length: top?.k ?? 0 }, (_, slot) => {
        const place = position * (top?.k ?? 0) + slot
        return { token: top?.tokens[place] ?? -1, logprob: top?.logprobs[place] ?? Number.NaN }
      }).flatMap(({ token, logprob }) => (token < 0 || Number.isNaN(logprob) ? [] : [{ text: name(token), logprob }])),
    })),
    finishReason: isCut ? 'stop' : stopReason,
    tokenCount: tokens.length,
  }
}

// The first place where a stop text appears ends the answer; the tokens up to there are found by halving.
function cut(tokens: Int32Array, tokenizer: Tokenizer, stops: readonly string[]) {
  const text = tokenizer.decode(tokens)
  const found = stops.map((stop) => text.indexOf(stop)).filter((place) => place !== -1)
  if (found.length === 0) return { answer: tokens, text, isCut: false }
  const end = Math.min(...found)
  let low = 0
  let high = tokens.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (tokenizer.decode(tokens.subarray(0, middle)).length >= end) high = middle
    else low = middle + 1
  }
  return { answer: tokens.subarray(0, low), text: text.slice(0, end), isCut: true }
}

// Log-probabilities in the two forms that OpenAI's clients read.
/** The form of `/completions`. */
export function textLogprobs({ tokens }: Completion) {
  let offset = 0
  return {
    tokens: tokens.map(({ text }) => text),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: tokens.map(({ top }) => Object.fromEntries(top.map(({ text, logprob }) => [text, logprob]))),
    text_offset: tokens.map(({ text }) => {
      const start = offset
      offset += text.length
      return start
    }),
  }
}

/** The form of `/chat/completions`. */
export function chatLogprobs({ tokens }: Completion) {
  const entry = ({ text, logprob }: Scored) => ({ token: text, logprob, bytes: [...Buffer.from(text, 'utf8')] })
  return { content: tokens.map((token) => ({ ...entry(token), top_logprobs: token.top.map(entry) })) }
}
