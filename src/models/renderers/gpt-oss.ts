// gpt-oss: the Harmony format. An answer has channels: analysis (reasoning), commentary (calls, and words around them) and
// final. Reasoning of earlier answers is dropped, unless it led to calls that no final answer follows yet.
import type { ToolCall } from '../../contracts/index.ts'
import { answerMessage } from '../chat/parse-answer.ts'
import {
  type AnswerText,
  answeredCall,
  argumentText,
  type ChatFormat,
  callOf,
  type FormatMessage,
  ownMessage,
  type Part,
  type Place,
  refused,
} from './chat-format.ts'

const tokens = [
  '<|start|>',
  '<|end|>',
  '<|message|>',
  '<|channel|>',
  '<|constrain|>',
  '<|return|>',
  '<|call|>',
] as const

/** `effort` undefined: without the built-in system message, which names the day. */
export function gptOss(effort?: 'low' | 'medium' | 'high', currentDate = ''): ChatFormat {
  return {
    tokens,
    ends: ['<|return|>', '<|call|>'],
    extendsHistory: false,
    prepare(messages) {
      return effort === undefined ? messages : [ownMessage('system', systemText(effort, currentDate)), ...messages]
    },
    turn(message, place) {
      const { role, text, index } = message
      switch (role) {
        case 'user':
          return { header: ['<|start|>user'], body: ['<|message|>', { content: text }, '<|end|>'] }
        case 'system':
          return index === -1
            ? { header: ['<|start|>system<|message|>', text, '<|end|>'], body: [] }
            : {
                header: ['<|start|>developer'],
                body: ['<|message|># Instructions\n\n', { content: text }, '\n\n<|end|>'],
              }
        case 'tool':
          return {
            header: ['<|start|>functions.', { content: functionOf(message, place) }, ' to=assistant'],
            body: ['<|channel|>commentary<|message|>', { content: text }, '<|end|>'],
          }
        case 'assistant':
          return { header: ['<|start|>assistant'], body: answerParts(message, place) }
      }
    },
    prompt: () => '<|start|>assistant',
    parse(answer, ended) {
      const { content, reasoning, calls, isWhole } = readChannels(answer)
      return { message: answerMessage(content, reasoning, calls), complete: ended && isWhole }
    },
  }
}

function systemText(effort: string, currentDate: string): string {
  return `You are ChatGPT, a large language model trained by OpenAI.
Knowledge cutoff: 2024-06
Current date: ${currentDate}

Reasoning: ${effort}

# Valid channels: analysis, commentary, final. Channel must be included for every message.`
}

// Which function a result is of: its name, or that of the call it answers.
function functionOf({ name, callId }: FormatMessage, place: Place): string {
  const { call, asked } = answeredCall(place)
  const found = name ?? asked.find(({ id }) => id !== undefined && id === callId)?.name ?? call?.name
  if (found === undefined)
    throw refused('gpt_oss', 'the result of a tool follows no call', 'put it after the call, or give its name.')
  return found.replace(/^functions\./, '')
}

function answerParts({ text, reasoning = '', calls }: FormatMessage, { at, messages, isLast }: Place): Part[] {
  const isFinal = (each: FormatMessage) => each.role === 'assistant' && each.calls.length === 0
  // The answer to be produced is set aside: its prompt had the reasoning of the calls before it.
  const keepsReasoning = calls.length > 0 ? !messages.slice(at + 1, -1).some(isFinal) : isLast
  const analysis: Part[] =
    reasoning === '' || !keepsReasoning
      ? []
      : ['<|channel|>analysis<|message|>', { content: reasoning }, '<|end|><|start|>assistant']
  if (calls.length === 0) {
    return [...analysis, '<|channel|>final<|message|>', { content: text }, isLast ? '<|return|>' : '<|end|>']
  }
  const words: Part[] =
    text === '' ? [] : ['<|channel|>commentary<|message|>', { content: text }, '<|end|><|start|>assistant']
  const each = calls.flatMap(({ name, args }, number): Part[] => [
    `${number > 0 ? '<|start|>assistant' : ''} to=functions.`,
    { content: name },
    '<|channel|>commentary <|constrain|>json<|message|>',
    { content: argumentText(args) },
    '<|call|>',
  ])
  return [...analysis, ...words, ...each]
}

function readChannels({ text, token }: AnswerText) {
  let content = ''
  let reasoning = ''
  let isWhole = true
  const calls: ToolCall[] = []
  const [start, message] = [token('<|start|>'), token('<|message|>')]
  for (const part of text.split(new RegExp(`${escaped(token('<|end|>'))}|${escaped(token('<|call|>'))}`))) {
    if (part === '') continue
    const [header = '', ...rest] = part.split(message)
    const body = rest.join('<|message|>')
    const [to = '', channel = ''] = header.replace(`${start}assistant`, '').split(token('<|channel|>'))
    const name = /to=functions\.([^\s<\uFDD0-\uFDEF]+)/.exec(`${to} ${channel}`)?.[1]
    if (name !== undefined) {
      const call = callOf(name, body)
      if (call === undefined) isWhole = false
      else calls.push(call)
    } else if (channel.startsWith('analysis')) reasoning += body
    else if (rest.length > 0) content += body
    else {
      content += header
      isWhole = false
    }
  }
  return { content, reasoning, calls, isWhole }
}

function escaped(text: string): string {
  return text.replace(/[|\\{}()[\]^$+*?.]/g, '\\$&')
}
