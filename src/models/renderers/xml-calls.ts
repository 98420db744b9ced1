// Calls as Qwen3.5 and Nemotron write them: a function, and each of its parameters in a block of its own.
import type { ToolCall } from '../../contracts/index.ts'
import type { FormatCall, Part } from './chat-format.ts'

/** `<tool_call>` to `</tool_call>`. `textOf`: how a value that is no text is written. */
export function xmlCall({ name, args }: FormatCall, textOf: (value: unknown) => string): Part[] {
  const fields = typeof args === 'object' && args !== null ? Object.entries(args) : []
  return [
    '<tool_call>\n<function=',
    { content: name },
    '>\n',
    ...fields.flatMap(([key, value]): Part[] => [
      '<parameter=',
      { content: key },
      '>\n',
      { content: textOf(value) },
      '\n</parameter>\n',
    ]),
    '</function>\n</tool_call>',
  ]
}

const callForm = /^<tool_call>\s*<function=([^>\n]+)>\s*(.*?)\s*<\/function>\s*<\/tool_call>\s*$/s
const parameterForm = /<parameter=([^>\n]+)>\n?(.*?)\n?<\/parameter>\s*/gs

/** The calls at the end of a text, and what stands before them. What only looks like one stays text. */
export function splitXmlCalls(text: string): { content: string; calls: ToolCall[] } {
  const calls: ToolCall[] = []
  let content = text
  for (;;) {
    const start = content.lastIndexOf('<tool_call>')
    const call = start === -1 ? undefined : readCall(content.slice(start))
    if (call === undefined) break
    calls.unshift(call)
    content = content.slice(0, start).trimEnd()
  }
  return { content, calls }
}

function readCall(text: string): ToolCall | undefined {
  const [, name, body = ''] = callForm.exec(text) ?? []
  if (name === undefined || body.replace(parameterForm, '').trim() !== '') return undefined
  const fields = [...body.matchAll(parameterForm)].map(([, key = '', value = '']) => [key, readValue(value)])
  return { type: 'function', function: { name, arguments: Object.fromEntries(fields) } }
}

// Text is written as it is, so that what reads as JSON is taken for it.
function readValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
