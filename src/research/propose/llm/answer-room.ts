// How long an answer may be, so that the call stays within what is left of the caps of its session. Prompts are counted by their
// characters: three to a token, which is fewer than English and code have.
import type { Brief, ChatMessage, TokenPrice, Usage } from '../../../contracts/index.ts'

const charactersPerToken = 3

/** Below this no idea fits into an answer. */
const fewestTokens = 256

/** Tokens of the answer; undefined: the caps leave no room for one. */
export function answerRoom(options: {
  readonly messages: readonly ChatMessage[]
  readonly maxTokens: number
  readonly limit: Brief['limit']
  readonly price: TokenPrice | undefined
  /** Of earlier sendings of the same call. */
  readonly usage: Usage | undefined
}): number | undefined {
  const { messages, maxTokens, limit = {}, price, usage } = options
  const prompt = Math.ceil(messages.reduce((sum, { content }) => sum + lengthOf(content), 0) / charactersPerToken)
  const rooms = [maxTokens]
  if (limit.tokens !== undefined) {
    rooms.push(limit.tokens - (usage?.promptTokens ?? 0) - (usage?.completionTokens ?? 0) - prompt)
  }
  if (limit.usd !== undefined && price !== undefined && price.output > 0) {
    const input = Math.max(price.input, price.cache_write ?? 0)
    const left = limit.usd - (usage?.costUsd ?? 0) - (prompt * input) / 1_000_000
    rooms.push((left * 1_000_000) / price.output)
  }
  const room = Math.floor(Math.min(...rooms))
  return room < Math.min(fewestTokens, maxTokens) ? undefined : room
}

function lengthOf(content: ChatMessage['content']): number {
  return typeof content === 'string' ? content.length : JSON.stringify(content ?? '').length
}
