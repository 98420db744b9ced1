import type { ChatMessage, ToolCall } from '../../contracts/index.ts'
import { unusedCharacters } from '../chat/guard-messages.ts'
import type { ModelTokenizer } from '../tokenizer/open-tokenizer.ts'
import type { AnswerText } from './chat-format.ts'

/** The text of a completion up to `end` (-1: all of it), its special tokens told from text that spells them. */
export function readAnswer(
  tokenizer: ModelTokenizer,
  completion: Int32Array,
  end: number,
  names: readonly string[],
): AnswerText {
  const tokens = end === -1 ? completion : completion.subarray(0, end)
  const special = new Map(names.map((name) => [tokenizer.special.get(name), name]))
  const plain = tokenizer.decode(tokens)
  const [mark = ''] = unusedCharacters(plain.replace(/[\uFDD0-\uFDEF]/g, ''), 1)
  let text = ''
  let from = 0
  for (const [at, token] of tokens.entries()) {
    const name = special.get(token)
    if (name === undefined) continue
    text += `${textOf(tokenizer, tokens.subarray(from, at), mark)}${mark}${name}${mark}`
    from = at + 1
  }
  return { text: text + textOf(tokenizer, tokens.subarray(from), mark), token: (name) => `${mark}${name}${mark}` }
}

/** The assistant message of its parts: what is empty is left out. */
export function answerMessage(content: string, reasoning: string, calls: readonly ToolCall[]): ChatMessage {
  return {
    role: 'assistant',
    content: content === '' && calls.length > 0 ? null : content,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: [...calls] }),
  }
}

/** A call whose arguments are the JSON object of a text; undefined where they are none. */
export function callOf(name: string, json: string, id?: string): ToolCall | undefined {
  try {
    const args: unknown = JSON.parse(json)
    if (name === '' || typeof args !== 'object' || args === null || Array.isArray(args)) return undefined
    const call = { type: 'function' as const, function: { name, arguments: { ...args } } }
    return id === undefined ? call : { ...call, id }
  } catch {
    return undefined
  }
}

// A model may write the mark as well: it is a character without meaning, and goes.
function textOf(tokenizer: ModelTokenizer, tokens: Int32Array, mark: string): string {
  return tokens.length === 0 ? '' : tokenizer.decode(tokens).replaceAll(mark, '\uFFFD')
}
