// Nemotron 3: in the manner of Qwen3.5, but with a system message always, with an empty reasoning in every answer that has none, and
// with one line break where Qwen has two. Ultra has none.
import { answerMessage, splitThinking } from '../chat/parse-answer.ts'
import { type ChatFormat, type FormatMessage, ownMessage, type Part, type Place, pythonString } from './chat-format.ts'
import { qwenTokens, separator } from './qwen.ts'
import { inSystem, nemotronTools, splitXmlCalls, xmlCall } from './tool-declarations.ts'

export interface Nemotron3Options {
  readonly isUltra?: boolean | undefined
  readonly isOff?: boolean | undefined
  /** Earlier answers keep their reasoning. */
  readonly keeps?: boolean | undefined
  /** Written at the end of the last user message. */
  readonly effort?: 'low' | 'efficient' | undefined
}

export function nemotron3({
  isUltra = false,
  isOff = false,
  keeps = false,
  effort,
}: Nemotron3Options = {}): ChatFormat {
  return {
    tokens: qwenTokens,
    ends: ['<|im_end|>'],
    extendsHistory: false,
    refusesReasoning: isOff,
    declare: (messages, tools) =>
      inSystem(messages, (system) => [system, nemotronTools(tools)].filter((each) => each !== '').join('\n\n')),
    prepare(messages) {
      const whole = messages[0]?.role === 'system' ? messages : [ownMessage('system', ''), ...messages]
      if (effort === undefined) return whole
      const last = whole.findLastIndex(({ role }) => role === 'user')
      return whole.map((message, at) =>
        at === last ? { ...message, text: `${message.text}\n\n{reasoning effort: ${effort}}` } : message,
      )
    },
    turn(message, place) {
      const { role, text } = message
      if (role === 'tool') return toolTurn(message, place)
      const header = [`${separator(place.at)}<|im_start|>${role}\n`]
      if (role !== 'assistant') return { header, body: [{ content: text }, '<|im_end|>'] }
      return { header, body: [...answerParts(message, place, { isUltra, keeps }), '<|im_end|>'] }
    },
    prompt: (messages) =>
      `${separator(messages.length)}<|im_start|>assistant\n${isOff ? '<think></think>' : '<think>\n'}`,
    parse({ text }, ended) {
      const opensThinking = !isOff && !text.startsWith('<think>')
      const { reasoning, rest, closed } = splitThinking(text, { thinks: true, opensThinking })
      const { content, calls } = splitXmlCalls(rest)
      return { message: answerMessage(content, reasoning.trim(), calls), complete: ended && closed }
    },
  }
}

function toolTurn({ text }: FormatMessage, { at, messages }: Place) {
  const isFirst = messages[at - 1]?.role !== 'tool'
  const isLast = messages[at + 1]?.role !== 'tool'
  const body: Part[] = ['<tool_response>\n', { content: text }, '\n</tool_response>\n']
  return {
    header: isFirst ? [`${separator(at)}<|im_start|>user\n`] : [],
    body: isLast ? [...body, '<|im_end|>'] : body,
  }
}

type Habits = { readonly isUltra: boolean; readonly keeps: boolean }

function answerParts(message: FormatMessage, { at, messages }: Place, { isUltra, keeps }: Habits): Part[] {
  const { calls } = message
  const isHistory = !keeps && at < messages.findLastIndex(({ role }) => role === 'user')
  const reasoning = message.reasoning ?? ''
  const hasReasoning = reasoning.trim() !== ''
  const isShown = hasReasoning && !isHistory
  // Trimmed as a whole: what stands before the end has lost its space, what stands behind the reasoning only where it is dropped.
  const gap = isUltra || !hasReasoning || (isHistory && calls.length > 0) ? '' : '\n'
  const text = isHistory && calls.length > 0 ? message.text.trim() : message.text.trimEnd()
  const frame: Part[] = isShown
    ? ['<think>\n', { content: reasoning }, isUltra ? '</think>' : '\n</think>']
    : ['<think></think>']
  const spoken: Part[] = text === '' ? frame : [...frame, gap, { content: text }]
  if (calls.length === 0) return spoken
  return [...spoken, '\n', ...calls.flatMap((call): Part[] => [...xmlCall(call, pythonString), '\n'])]
}
