// Log-probabilities in the two forms that OpenAI's clients read.
import type { Completion } from './draw-completions.ts'

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
  const entry = ({ text, logprob }: { text: string; logprob: number }) => ({
    token: text,
    logprob,
    bytes: [...Buffer.from(text, 'utf8')],
  })
  return { content: tokens.map((token) => ({ ...entry(token), top_logprobs: token.top.map(entry) })) }
}
