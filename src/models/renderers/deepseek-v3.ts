// DeepSeek V3.1. A header of one token; `</think>` in it says that no reasoning follows. After the result of a tool the answer
// continues without a header.
import type { ToolCall } from '../../contracts/index.ts'
import { answerMessage, splitThinking } from '../chat/parse-answer.ts'
import {
  type AnswerText,
  argumentText,
  type ChatFormat,
  callOf,
  type FormatMessage,
  type Part,
  refused,
  splitReasoning,
} from './chat-format.ts'
import { deepseekTools, inSystem } from './tool-declarations.ts'

const user = '<｜User｜>'
const assistant = '<｜Assistant｜>'
const end = '<｜end▁of▁sentence｜>'
const begin = '<｜begin▁of▁sentence｜>'
const calls = {
  begin: '<｜tool▁calls▁begin｜>',
  end: '<｜tool▁calls▁end｜>',
  one: '<｜tool▁call▁begin｜>',
  separator: '<｜tool▁sep｜>',
  oneEnd: '<｜tool▁call▁end｜>',
} as const
const output = { begin: '<｜tool▁output▁begin｜>', end: '<｜tool▁output▁end｜>' } as const

export function deepseekV3({ thinks = false } = {}): ChatFormat {
  return {
    tokens: [begin, end, user, assistant, ...Object.values(calls), ...Object.values(output)],
    ends: [end],
    extendsHistory: !thinks,
    refusesReasoning: !thinks,
    begin: () => begin,
    declare: (messages, tools) => inSystem(messages, (system) => system + deepseekTools(tools)),
    turn(message, { at, messages, isLast }) {
      const { role, text } = message
      switch (role) {
        case 'system':
          if (at > 0) throw refused('deepseekv3', 'a system message stands after the beginning', 'put it first.')
          return { header: [], body: [{ content: text }] }
        case 'user':
          return { header: [user], body: [{ content: text }] }
        case 'tool':
          return { header: [output.begin], body: [{ content: text }, output.end] }
        case 'assistant': {
          const isContinued = messages[at - 1]?.role === 'tool'
          const split = splitReasoning(message)
          const isProduced = thinks && isLast && !isContinued
          const header = isContinued ? [] : isProduced ? [assistant] : [assistant, '</think>']
          const reasoning: Part[] = isProduced ? ['<think>', { content: split.reasoning }, '</think>'] : []
          return { header, body: [...reasoning, { content: split.text }, ...callParts(message), end] }
        }
      }
    },
    prompt: (messages) => (messages.at(-1)?.role === 'tool' ? '' : `${assistant}${thinks ? '<think>' : '</think>'}`),
    parse(answer, ended) {
      const { text, toolCalls } = splitCalls(answer)
      const opensThinking = thinks && !text.startsWith('<think>') && text.includes('</think>')
      const { reasoning, rest, closed } = splitThinking(text, { thinks: true, opensThinking })
      return { message: answerMessage(rest, reasoning, toolCalls), complete: ended && closed }
    },
  }
}

function callParts(message: FormatMessage): Part[] {
  if (message.calls.length === 0) return []
  const each = message.calls.flatMap(({ name, args }): Part[] => [
    calls.one,
    { content: name },
    calls.separator,
    { content: argumentText(args) },
    calls.oneEnd,
  ])
  return [calls.begin, ...each, calls.end]
}

function splitCalls({ text, token }: AnswerText): { text: string; toolCalls: ToolCall[] } {
  const [before = '', section] = text.split(token(calls.begin))
  const plain = Object.values(calls).reduce((rest, name) => rest.replaceAll(token(name), name), text)
  if (section?.endsWith(token(calls.end)) !== true) return { text: plain, toolCalls: [] }
  const made = section
    .slice(0, -token(calls.end).length)
    .split(token(calls.oneEnd))
    .filter((each) => each.trim() !== '')
    .map((each) => {
      const [name, args] = each.replace(token(calls.one), '').split(token(calls.separator))
      return callOf(name?.trim() ?? '', args ?? '')
    })
  const toolCalls = made.filter((call) => call !== undefined)
  return toolCalls.length === made.length ? { text: before, toolCalls } : { text: plain, toolCalls: [] }
}
