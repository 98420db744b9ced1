// Qwen3. The answer that is being produced is framed by its reasoning, also when there is none; earlier answers lose theirs.
import { answerMessage, parseAnswer, splitThinking } from '../chat/parse-answer.ts'
import {
  argumentText,
  type ChatFormat,
  type FormatMessage,
  lastQuery,
  ownMessage,
  type Part,
  type Place,
  pythonJson,
  pythonString,
  refused,
  splitReasoning,
  type Turn,
} from './chat-format.ts'
import { inSystem, qwen3Tools, qwen35Tools, splitXmlCalls, xmlCall } from './tool-declarations.ts'

interface Qwen3Options {
  /** Reasoning is written. Default true. */
  readonly thinks?: boolean | undefined
  /** The prompt holds an empty reasoning, so that none is produced. */
  readonly isOff?: boolean | undefined
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
function toolTurn({ text }: FormatMessage, { at, messages }: Place): Turn {
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

// Qwen3.5 and Qwen3.8: as Qwen3, but the prompt opens the reasoning, texts are trimmed and calls are XML. Qwen3.8 keeps the
// reasoning of earlier answers and the effort is written out in words.
type Effort = 'xhigh' | 'medium' | 'low'

interface Qwen35Options {
  readonly isOff?: boolean | undefined
  /** Qwen3.8, with this effort. */
  readonly effort?: Effort | undefined
  readonly isQwen38?: boolean | undefined
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
