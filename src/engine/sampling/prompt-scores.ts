// What the model thinks of a prompt: log-probabilities of its tokens, and the likeliest tokens in their places. Rows come one
// after the other, so that the whole of `[position, vocabulary]` is never held.
import type { Sample, SampleReq } from '../../contracts/index.ts'

type PromptScores = Pick<Sample, 'promptLogprobs' | 'topKPromptLogprobs'>

type Asked = Pick<SampleReq, 'prompt' | 'promptLogprobs' | 'topKPromptLogprobs'>

export interface PromptScorer {
  /** Takes the log-probabilities that the prompt up to `at` gives for the token at `at + 1`. */
  add(at: number, logprobs_V: Float64Array): void
  readonly scores: PromptScores
}

/** Collects the scores that a request asks for. Nothing predicts the first token. */
export function promptScorer({ prompt, promptLogprobs, topKPromptLogprobs: k = 0 }: Asked): PromptScorer {
  const own = promptLogprobs ? new Float64Array(prompt.length).fill(Number.NaN) : undefined
  const size = prompt.length * k
  const none = { tokens: new Int32Array(size).fill(-1), logprobs: new Float64Array(size).fill(Number.NaN) }
  const top = k > 0 ? { k, ...none } : undefined
  return {
    add(at, logprobs_V) {
      const next = prompt[at + 1]
      if (next === undefined) return
      own?.fill(logprobs_V[next] ?? Number.NaN, at + 1, at + 2)
      if (top === undefined) return
      const best = likeliestTokens(logprobs_V, k)
      const logprobs = Float64Array.from(best, (token) => logprobs_V[token] ?? Number.NaN)
      top.tokens.set(best, (at + 1) * k)
      top.logprobs.set(logprobs, (at + 1) * k)
    },
    scores: { promptLogprobs: own, topKPromptLogprobs: top },
  }
}

// Some tokens out of a large vocabulary: the rest is never put in order.
/** The likeliest tokens, likeliest first, equals by their number; all of them where there are fewer. */
export function likeliestTokens(logprobs_V: Float64Array, count: number): Int32Array {
  const wanted = Math.min(count, logprobs_V.length)
  if (wanted <= 0) return new Int32Array()
  const least = nthLargest(logprobs_V, wanted)
  const above: number[] = []
  const equal: number[] = []
  for (let token = 0; token < logprobs_V.length; token++) {
    const logprob = logprobs_V[token] ?? 0
    if (logprob > least) above.push(token)
    else if (logprob === least && equal.length < wanted) equal.push(token)
  }
  above.sort((a, b) => (logprobs_V[b] ?? 0) - (logprobs_V[a] ?? 0) || a - b)
  return Int32Array.from([...above, ...equal].slice(0, wanted))
}

// Quickselect (Hoare 1961) over a copy. The middle of three as pivot keeps it fast for rows that are in order already.
function nthLargest(values: Float64Array, n: number): number {
  const all = values.slice()
  const at = (i: number) => all[i] ?? 0
  let [low, high] = [0, all.length - 1]
  while (low < high) {
    const [a, b, c] = [at(low), at((low + high) >> 1), at(high)]
    const pivot = Math.max(Math.min(a, b), Math.min(Math.max(a, b), c))
    let [i, j] = [low, high]
    while (i <= j) {
      while (at(i) > pivot) i++
      while (at(j) < pivot) j--
      if (i > j) break
      const kept = at(i)
      all[i++] = at(j)
      all[j--] = kept
    }
    if (n - 1 <= j) high = j
    else if (n - 1 >= i) low = i
    else break
  }
  return at(n - 1)
}
