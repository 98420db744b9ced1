// What the model thinks of a prompt: log-probabilities of its tokens, and the likeliest tokens in their places. Rows come one
// after the other, so that the whole of `[position, vocabulary]` is never held.
import type { Sample, SampleReq } from '../../contracts/index.ts'
import { likeliestTokens } from './likeliest-tokens.ts'

export type PromptScores = Pick<Sample, 'promptLogprobs' | 'topKPromptLogprobs'>

type Asked = Pick<SampleReq, 'prompt' | 'promptLogprobs' | 'topKPromptLogprobs'>

export interface PromptScorer {
  /** Takes the log-probabilities that the prompt up to `at` gives for the token at `at + 1`. */
  add(at: number, logprobs_V: Float64Array): void
  readonly scores: PromptScores
}

/** Collects the scores that a request asks for. Nothing predicts the first token. */
export function promptScorer({ prompt, promptLogprobs, topKPromptLogprobs: k = 0 }: Asked): PromptScorer {
  const own = promptLogprobs ? new Float64Array(prompt.length).fill(Number.NaN) : undefined
  const top =
    k > 0
      ? {
          k,
          tokens: new Int32Array(prompt.length * k).fill(-1),
          logprobs: new Float64Array(prompt.length * k).fill(Number.NaN),
        }
      : undefined
  return {
    add(at, logprobs_V) {
      const next = prompt[at + 1]
      if (next === undefined) return
      own?.fill(logprobs_V[next] ?? Number.NaN, at + 1, at + 2)
      if (top === undefined) return
      const best = likeliestTokens(logprobs_V, k)
      top.tokens.set(best, (at + 1) * k)
      top.logprobs.set(
        Float64Array.from(best, (token) => logprobs_V[token] ?? Number.NaN),
        (at + 1) * k,
      )
    },
    scores: {
      ...(own === undefined ? {} : { promptLogprobs: own }),
      ...(top === undefined ? {} : { topKPromptLogprobs: top }),
    },
  }
}
