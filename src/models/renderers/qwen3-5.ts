// Qwen3.5 and Qwen3.8: as Qwen3, but the prompt opens the reasoning, texts are trimmed and calls are XML. Qwen3.8 keeps the
// reasoning of earlier answers and is told in words how much to reason.
import { splitThinking } from '../chat/parse-answer.ts'
import type { ChatFormat, FormatMessage, Part } from './chat-format.ts'
import { lastQuery, ownMessage, refused, splitReasoning } from './format-messages.ts'
import { pythonJson, pythonString } from './python-json.ts'
import { qwenTokens, separator, toolTurn } from './qwen3.ts'
import { answerMessage } from './read-answer.ts'
import { inSystem, qwen35Tools } from './tool-declarations.ts'
import { splitXmlCalls, xmlCall } from './xml-calls.ts'

export type Effort = 'xhigh' | 'medium' | 'low'

export interface Qwen35Options {
  readonly isOff?: boolean
  /** Qwen3.8, with this effort. */
  readonly effort?: Effort
  readonly isQwen38?: boolean
}

const sentences: Readonly<Record<Effort, string>> = {
  xhigh:
    'Reasoning effort is set to xhigh. Please think carefully through the task, validate key assumptions, consider plausible alternatives, and prioritize correctness, consistency, and clarity in the final answer.',
  medium: '',
  low: 'Reasoning effort is set to low. Keep your thinking brief and focused, moving directly to the conclusion without unnecessary elaboration.',
}

export function qwen35({ isOff = false, isQwen38 = false, effort = 'medium' }: Qwen35Options = {}): ChatFormat {
  const textOf = isQwen38 ? (value: unknown) => (typeof value === 'string' ? value : pythonJson(value)) : pythonString
  return {
    tokens: qwenTokens,
    ends: ['<|im_end|>'],
    extendsHistory: false, // an answer without reasoning begins otherwise in history than it was produced
    refusesReasoning: isOff,
    declare: (messages, tools) =>
      inSystem(messages, (system) => [qwen35Tools(tools), system.trim()].filter((each) => each !== '').join('\n\n')),
    prepare(messages) {
      const trimmed = messages.map((message) => ({ ...message, text: message.text.trim() }))
      check(trimmed)
      return isQwen38 ? withEffort(trimmed, isOff ? '' : sentences[effort]) : trimmed
    },
    turn(message, place) {
      if (message.role === 'tool') return toolTurn(message, place)
      const header = [`${separator(place.at)}<|im_start|>${message.role}\n`]
      if (message.role !== 'assistant') return { header, body: [{ content: message.text }, '<|im_end|>'] }
      const { text, reasoning } = isQwen38
        ? { text: message.text, reasoning: message.reasoning ?? '' }
        : splitReasoning(message)
      const isFramed = isQwen38 || place.at > lastQuery(place.messages)
      const frame: Part[] = isFramed ? ['<think>\n', { content: reasoning.trim() }, '\n</think>\n\n'] : []
      const calls = message.calls.flatMap((call, number): Part[] => [
        number > 0 ? '\n' : text.trim() === '' ? '' : '\n\n',
        ...xmlCall(call, textOf),
      ])
      return { header, body: [...frame, { content: text }, ...calls, '<|im_end|>'] }
    },
    prompt: (messages) =>
      `${separator(messages.length)}<|im_start|>assistant\n<think>\n${isOff ? '\n</think>\n\n' : ''}`,
    parse({ text }, ended) {
      const { reasoning, rest, closed } = splitThinking(text, {
        thinks: true,
        opensThinking: !isOff && !/^\s*<think>/.test(text),
      })
      const { content, calls } = splitXmlCalls(rest)
      return { message: answerMessage(content, reasoning.trim(), calls), complete: ended && closed }
    },
  }
}

function check(messages: readonly FormatMessage[]): void {
  if (messages.some(({ role }, at) => role === 'system' && at > 0)) {
    throw refused('qwen3_5', 'a system message stands after the beginning', 'put it first, or make it a user message.')
  }
  if (lastQuery(messages) === -1) throw refused('qwen3_5', 'no user message asks anything', 'add a user message.')
}

function withEffort(messages: readonly FormatMessage[], sentence: string): FormatMessage[] {
  const [first, ...rest] = messages
  if (first?.role !== 'system') return sentence === '' ? [...messages] : [ownMessage('system', sentence), ...messages]
  const text = [sentence, first.text].filter((each) => each !== '').join('\n\n')
  return text === '' ? rest : [{ ...first, text }, ...rest]
}
