// Kimi K2, K2.5 and K2.6. Every answer has a place for reasoning; that of earlier turns is empty, unless it is kept by choice. A turn
// spans calls and their results, up to an answer without calls.
import type { ToolCall, ToolSpec } from '../../contracts/index.ts'
import { canonicalJson } from '../../kernel/index.ts'
import { answerMessage, splitThinking } from '../chat/parse-answer.ts'
import {
  type AnswerText,
  answeredCall,
  argumentText,
  type ChatFormat,
  callOf,
  type FormatCall,
  type FormatMessage,
  ownMessage,
  type Part,
  type Place,
} from './chat-format.ts'

const section = { begin: '<|tool_calls_section_begin|>', end: '<|tool_calls_section_end|>' } as const
const call = { begin: '<|tool_call_begin|>', args: '<|tool_call_argument_begin|>', end: '<|tool_call_end|>' } as const
const roles = { user: '<|im_user|>', assistant: '<|im_assistant|>', system: '<|im_system|>' } as const
const declaration = 'tool_declare'
const defaultSystem = 'You are Kimi, an AI assistant created by Moonshot AI.'

export interface KimiOptions {
  /** What the prompt holds of the reasoning: nothing (K2), its beginning, or an empty one. */
  readonly opens?: 'nothing' | 'reasoning' | 'empty' | undefined
  /** Earlier answers keep their reasoning. */
  readonly keeps?: boolean | undefined
}

export function kimi({ opens = 'nothing', keeps = false }: KimiOptions = {}): ChatFormat {
  const opening = { nothing: '', reasoning: '<think>', empty: '<think></think>' }[opens]
  return {
    tokens: [...Object.values(roles), '<|im_middle|>', '<|im_end|>', ...Object.values(section), ...Object.values(call)],
    ends: ['<|im_end|>'],
    extendsHistory: keeps,
    refusesReasoning: opens === 'empty',
    declare: opens === 'nothing' ? declareTools : undefined, // for later ones tools are declared in TypeScript
    prepare(messages) {
      const own = Math.max(
        0,
        messages.findIndex(({ index }) => index !== -1),
      ) // behind declared tools
      const isGiven = messages[own]?.role === 'system' && messages[own].index !== -1
      return isGiven ? messages : messages.toSpliced(own, 0, ownMessage('system', defaultSystem))
    },
    turn(message, place) {
      const { role, text, name } = message
      if (role === 'tool') {
        const shown: Part = name === undefined ? 'tool' : { content: name }
        const header = [roles.system, shown, '<|im_middle|>## Return of ', { content: callIdOf(message, place) }, '\n']
        return { header, body: [{ content: text }, '<|im_end|>'] }
      }
      const header = [`${roles[role]}${message.index === -1 && name === declaration ? name : role}<|im_middle|>`]
      if (role !== 'assistant') return { header, body: [{ content: text }, '<|im_end|>'] }
      const reasoning = keeps || isInLastTurn(place) ? (message.reasoning ?? '') : ''
      const body: Part[] = ['<think>', { content: reasoning }, '</think>', { content: text }, ...callParts(message)]
      return { header, body: [...body, '<|im_end|>'] }
    },
    prompt: () => `${roles.assistant}assistant<|im_middle|>${opening}`,
    parse(answer, ended) {
      const { text, toolCalls } = splitCalls(answer)
      const opensThinking = opens === 'reasoning' && !text.startsWith('<think>')
      const { reasoning, rest, closed } = splitThinking(text, { thinks: true, opensThinking })
      return { message: answerMessage(rest, reasoning, toolCalls), complete: ended && closed }
    },
  }
}

// Compact JSON with sorted keys, in a separate message before all others.
function declareTools(messages: readonly FormatMessage[], tools: readonly ToolSpec[]): FormatMessage[] {
  const json = canonicalJson(tools.map((tool) => ({ type: 'function', function: tool })))
  return [{ ...ownMessage('system', json), name: declaration }, ...messages]
}

// The turn begins after the last answer without calls, the one to be produced set aside.
function isInLastTurn({ at, messages }: Place): boolean {
  const before = messages.slice(0, -1).findLastIndex(({ role, calls }) => role === 'assistant' && calls.length === 0)
  return at > before
}

function idOf({ id, name }: FormatCall, number: number): string {
  return id ?? `functions.${name}:${number}`
}

// A result without an id answers the calls before it in order.
function callIdOf({ callId }: FormatMessage, place: Place): string {
  if (callId !== undefined) return callId
  const { call: found, nth } = answeredCall(place)
  return found === undefined ? '' : idOf(found, nth)
}

function callParts({ calls }: FormatMessage): Part[] {
  if (calls.length === 0) return []
  const each = calls.flatMap((one, number): Part[] => [
    call.begin,
    { content: idOf(one, number) },
    call.args,
    { content: argumentText(one.args) },
    call.end,
  ])
  return [section.begin, ...each, section.end]
}

function splitCalls({ text, token }: AnswerText): { text: string; toolCalls: ToolCall[] } {
  const [before = '', inner] = text.split(token(section.begin))
  const marks = [...Object.values(section), ...Object.values(call)]
  const plain = marks.reduce((rest, name) => rest.replaceAll(token(name), name), text)
  if (inner?.trimEnd().endsWith(token(section.end)) !== true) return { text: plain, toolCalls: [] }
  const made = inner
    .trimEnd()
    .slice(0, -token(section.end).length)
    .split(token(call.end))
    .filter((each) => each.trim() !== '')
    .map((each) => {
      const [id = '', args = ''] = each.replace(token(call.begin), '').split(token(call.args))
      return callOf(/^(?:functions\.)?(.+?)(?::\d+)?$/s.exec(id.trim())?.[1] ?? '', args, id.trim())
    })
  const toolCalls = made.filter((each) => each !== undefined)
  return toolCalls.length === made.length ? { text: before, toolCalls } : { text: plain, toolCalls: [] }
}
