// Tool calls in plain text, for models that tools cannot be declared to: how they are told to the model, and how its answer is read.
import type { ToolCall, ToolSpec } from '../../contracts/index.ts'
import { messageOf } from '../../kernel/index.ts'

/** What stands in the system message in place of declared tools. */
export function toolsInWords(tools: readonly ToolSpec[]): string {
  const list = tools.map(({ name, description = '', parameters }) => JSON.stringify({ name, description, parameters }))
  return [
    'You can call these tools:',
    ...list,
    'To call one, write {"name": ..., "arguments": {...}} between <tool_call> and </tool_call>. You may call several at once.',
    'Their results come in the next message. When you need no tool any more, answer without a call.',
  ].join('\n')
}

export type ReadCall = { readonly call: ToolCall } | { readonly fault: string }

/** The calls in an answer; one that cannot be read is there with what is wrong with it. */
export function readCalls(text: string): ReadCall[] {
  const blocks = [...text.matchAll(/<tool_call>([\s\S]*?)(?:<\/tool_call>|$)/g)].map(([, body = '']) => body)
  return blocks.map(readCall)
}

function readCall(body: string): ReadCall {
  const json = body.replace(/^\s*```\w*\n?|```\s*$/g, '').trim()
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    return { fault: `the call is no JSON: ${messageOf(error)}` }
  }
  const { name, arguments: args = {} } = Object(value) as { name?: unknown; arguments?: unknown } // both are tested below
  if (typeof name !== 'string' || name === '') return { fault: 'the call has no "name"' }
  if (typeof args === 'string') return { call: { type: 'function', function: { name, arguments: args } } }
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return { fault: '"arguments" is no object' }
  return { call: { type: 'function', function: { name, arguments: { ...args } } } }
}

/** Results as the user message that follows. */
export function resultsInWords(results: readonly { name: string; text: string }[]): string {
  return results.map(({ name, text }) => `<tool_response name="${name}">\n${text}\n</tool_response>`).join('\n')
}
