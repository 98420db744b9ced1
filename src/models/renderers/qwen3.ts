// Qwen3. The answer that is being produced is framed by its reasoning, also when there is none; earlier answers lose theirs.
import { parseAnswer } from '../chat/parse-answer.ts'
import type { ChatFormat, FormatMessage, Part, Place, Turn } from './chat-format.ts'
import { lastQuery, splitReasoning } from './format-messages.ts'
import { argumentText } from './python-json.ts'
import { inSystem, qwen3Tools } from './tool-declarations.ts'

export interface Qwen3Options {
  /** Reasoning is written. Default true. */
  readonly thinks?: boolean
  /** The prompt holds an empty reasoning, so that none is produced. */
  readonly isOff?: boolean
}

export const qwenTokens = ['<|im_start|>', '<|im_end|>'] as const

export function qwen3({ thinks = true, isOff = false }: Qwen3Options = {}): ChatFormat {
  return {
    tokens: qwenTokens,
    ends: ['<|im_end|>'],
    extendsHistory: !thinks,
    refusesReasoning: isOff || !thinks,
    declare: (messages, tools) =>
      inSystem(messages, (system) => (system === '' ? '' : `${system}\n\n`) + qwen3Tools(tools)),
    turn(message, place) {
      if (message.role === 'tool') return toolTurn(message, place)
      const header = [`${separator(place.at)}<|im_start|>${message.role}\n`]
      if (message.role !== 'assistant') return { header, body: [{ content: message.text }, '<|im_end|>'] }
      return { header, body: [...answerParts(message, place, thinks), '<|im_end|>'] }
    },
    prompt: (messages) =>
      `${separator(messages.length)}<|im_start|>assistant\n${isOff ? '<think>\n\n</think>\n\n' : ''}`,
    parse({ text }, ended) {
      const { message, closed } = parseAnswer(text, { thinks, opensThinking: false, calls: true })
      return { message, complete: ended && closed }
    },
  }
}

/** A new line between messages. */
export function separator(at: number): string {
  return at === 0 ? '' : '\n'
}

/** Results of tools are said by the user; those that follow each other share one message. */
export function toolTurn({ text }: FormatMessage, { at, messages }: Place): Turn {
  const isFirst = messages[at - 1]?.role !== 'tool'
  const isLast = messages[at + 1]?.role !== 'tool'
  const header = isFirst ? `${separator(at)}<|im_start|>user\n` : '\n'
  const body: Part[] = ['<tool_response>\n', { content: text }, '\n</tool_response>']
  return { header: [header], body: isLast ? [...body, '<|im_end|>'] : body }
}

function answerParts(message: FormatMessage, { at, messages, isLast }: Place, thinks: boolean): Part[] {
  const query = lastQuery(messages)
  const { text, reasoning } = thinks ? splitReasoning(message) : { text: message.text, reasoning: '' }
  const isFramed = thinks && query !== -1 && at > query && (isLast || reasoning !== '')
  const inner = reasoning.replace(/^\n+|\n+$/g, '')
  const frame: Part[] = isFramed
    ? ['<think>\n', { content: inner }, '\n</think>\n\n', { content: text.replace(/^\n+/, '') }]
    : [{ content: text }]
  return [...frame, ...callParts(message, text !== '')]
}

function callParts({ calls }: FormatMessage, hasText: boolean): Part[] {
  return calls.flatMap(({ name, args }, number): Part[] => [
    `${number > 0 || hasText ? '\n' : ''}<tool_call>\n{"name": "`,
    { content: name },
    '", "arguments": ',
    { content: argumentText(args) },
    '}\n</tool_call>',
  ])
}
