// The message that an answer's text amounts to: reasoning in <think>, calls in <tool_call> as JSON, as Qwen's templates and many
// others write them. What only looks like one stays content.
import type { ChatMessage, ToolCall } from '../../contracts/index.ts'
import { isMapping } from '../../kernel/index.ts'

export interface AnswerForm {
  /** The template writes reasoning in <think>. */
  readonly thinks: boolean
  /** The prompt ends inside <think> already. */
  readonly opensThinking: boolean
  /** The template writes calls in <tool_call>. */
  readonly calls: boolean
}

const callForm = /\n?<tool_call>\s*(\{.*?\})\s*<\/tool_call>\s*$/s

/** The assistant message of a text. `closed`: reasoning that began has ended. */
export function parseAnswer(text: string, form: AnswerForm): { message: ChatMessage; closed: boolean } {
  const { reasoning, rest, closed } = splitThinking(text, form)
  const { content, calls } = form.calls ? splitCalls(rest) : { content: rest, calls: [] }
  return { message: answerMessage(content, reasoning, calls), closed }
}

/** The assistant message of its parts: what is empty is left out. */
export function answerMessage(content: string, reasoning: string, calls: readonly ToolCall[]): ChatMessage {
  const message: ChatMessage = { role: 'assistant', content: content === '' && calls.length > 0 ? null : content }
  if (reasoning !== '') message.reasoning_content = reasoning
  if (calls.length > 0) message.tool_calls = [...calls]
  return message
}

/** Reasoning at the beginning of a text, and what follows it. */
export function splitThinking(text: string, { thinks, opensThinking }: Pick<AnswerForm, 'thinks' | 'opensThinking'>) {
  const opened = opensThinking ? text : text.startsWith('<think>') ? text.slice('<think>'.length) : undefined
  if (!thinks || opened === undefined) return { reasoning: '', rest: text, closed: true }
  const end = opened.indexOf('</think>')
  const reasoning = (end === -1 ? opened : opened.slice(0, end)).replace(/^\n/, '').replace(/\n$/, '')
  if (end === -1) return { reasoning, rest: '', closed: false }
  return { reasoning, rest: opened.slice(end + '</think>'.length).replace(/^\n{1,2}/, ''), closed: true }
}

function splitCalls(text: string): { content: string; calls: ToolCall[] } {
  const calls: ToolCall[] = []
  let content = text
  for (let found = lastCall(content); found !== undefined; found = lastCall(content)) {
    calls.unshift(found.call)
    content = content.slice(0, found.start)
  }
  return { content, calls }
}

function lastCall(text: string): { call: ToolCall; start: number } | undefined {
  const start = text.lastIndexOf('<tool_call>')
  if (start === -1) return undefined
  const json = callForm.exec(text.slice(start))?.[1]
  if (json === undefined) return undefined
  try {
    const { name, arguments: args }: Record<string, unknown> = Object(JSON.parse(json))
    if (typeof name !== 'string' || name === '' || !(typeof args === 'string' || isMapping(args))) return undefined
    const call: ToolCall = { type: 'function', function: { name, arguments: args } }
    return { call, start: text[start - 1] === '\n' ? start - 1 : start }
  } catch {
    return undefined
  }
}
