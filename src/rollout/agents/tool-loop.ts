// Function calling: the model answers or calls tools, their results go back to it, until it answers without a call. Tools come from
// files of the project and from MCP servers; a model that tools cannot be declared to has them described in words.
import * as z from 'zod'
import type { Agent, ChatMessage, Generated, ToolCall, ToolSpec } from '../../contracts/index.ts'
import { defineAgent, EvsysError, isMapping, messageOf } from '../../kernel/index.ts'
import { openMcpTools } from '../mcp/mcp-client.ts'
import { McpServer } from '../mcp/mcp-server.ts'
import { type CallOptions, type CallResult, callTools } from '../tools/call-tools.ts'
import { type OfferedTool, projectTools } from '../tools/tool.ts'
import { limitParams, openingMessages, promptParams, replyMessage, shortened, turnSeed } from './conversation.ts'

const Params = z.strictObject({
  ...promptParams,
  ...limitParams({ maxTurns: 20 }),
  tools: z
    .array(z.string().min(1))
    .default([])
    .describe('Exports of files, as `./tools.ts#search`: a tool made by defineTool, or a list of tools.'),
  mcp_servers: z.array(McpServer).default([]).describe('MCP servers whose tools the model may call.'),
  format: z
    .enum(['auto', 'native', 'text'])
    .default('auto')
    .describe(
      '`native`: tools are declared to the model; `text`: described in words; `auto`: declared where it takes them.',
    ),
  parallel_calls: z.int().min(1).max(256).default(8).describe('Calls of one answer that are made at a time.'),
  tool_timeout_s: z.number().positive().max(86_400).default(60).describe('Longest that one call may take.'),
  max_result_chars: z.int().min(1).default(10_000).describe('Longer results are cut in the middle.'),
})
type Context = Parameters<Agent<'tool_loop', typeof Params>['run']>[0]

export const toolLoop = defineAgent({
  kind: 'tool_loop',
  summary: 'Function calling: tools of the project and of MCP servers, until the model answers without a call.',
  params: Params,
  async run(context) {
    const { params, policy, signal } = context
    await using servers = await openMcpTools(params.mcp_servers, signal)
    const tools = byName([...(await ownTools(context)), ...servers.tools])
    const isNative = params.format === 'native' || (params.format === 'auto' && policy.takesTools !== false)
    return { output: await converse(context, tools, isNative) }
  },
})

function ownTools({ params, task, random, environment, signal }: Context): Promise<OfferedTool[]> {
  const { task_id, instruction, metadata } = task
  const shown = { task_id, instruction, metadata }
  return projectTools(params.tools, { task: shown, signal, random, state: new Map(), environment })
}

async function converse(context: Context, tools: ReadonlyMap<string, OfferedTool>, isNative: boolean): Promise<string> {
  const { params, policy, sampling, random, signal, task } = context
  const specs = [...tools.values()].map(({ spec }) => spec)
  const words = isNative || specs.length === 0 ? [] : [toolsInWords(specs)]
  const system = [params.system_prompt ?? [], words].flat().join('\n\n')
  const messages = openingMessages({ ...params, system_prompt: system === '' ? undefined : system }, task)
  const calling: CallOptions = { tools, signal, limit: params.parallel_calls, timeoutMs: params.tool_timeout_s * 1000 }
  for (let turn = 0; ; turn++) {
    const declared = isNative && specs.length > 0 ? specs : undefined
    const seed = turnSeed(random, turn)
    const answer = await policy.generate({ messages, ...sampling, seed, tools: declared }, signal)
    // A renderer may read calls out of a text that it could declare no tools in.
    const made = (answer.toolCalls ?? []).map((call): ReadCall => ({ call }))
    const calls = isNative ? made : [...made, ...readCalls(answer.text)]
    if (calls.length === 0) return answer.text
    const results = await resultsOf(calls, calling)
    const shown = results.map((each) => ({ ...each, text: shortened(each.text, params.max_result_chars) }))
    if (isNative) messages.push(...nativeMessages(answer, shown, turn))
    else messages.push(replyMessage(answer), { role: 'user', content: resultsInWords(shown) })
  }
}

/** Every call has its result, in order; one that could not be read is answered without a tool. */
async function resultsOf(calls: readonly ReadCall[], options: CallOptions): Promise<CallResult[]> {
  const made = await callTools(
    calls.flatMap((each) => ('call' in each ? [each.call] : [])),
    options,
  )
  const next = made.values()
  return calls.map((each): CallResult => {
    if ('fault' in each) return { name: 'error', text: `error: ${each.fault}`, isError: true }
    return next.next().value ?? { name: each.call.function.name, text: 'error: no result', isError: true }
  })
}

// Calls without an id get one: results are tied to them by it.
function nativeMessages(answer: Generated, results: readonly CallResult[], turn: number): ChatMessage[] {
  const calls = (answer.toolCalls ?? []).map((call, i) => ({ ...call, id: call.id ?? `call_${turn}_${i}` }))
  const replies = results.map(({ name, text }, i): ChatMessage => {
    const tool_call_id = calls[i]?.id ?? `call_${turn}_${i}`
    return { role: 'tool', content: text, name, tool_call_id }
  })
  return [replyMessage({ ...answer, toolCalls: calls.map(readable) }), ...replies]
}

// Arguments that are no JSON would break every later request: the model saw what is wrong with them, the history holds none.
function readable(call: ToolCall): ToolCall {
  const { arguments: args } = call.function
  if (typeof args !== 'string' || args.trim() === '') return call
  try {
    if (isMapping(JSON.parse(args))) return call
  } catch {
    // replaced below
  }
  return { ...call, function: { ...call.function, arguments: {} } }
}

function byName(tools: readonly OfferedTool[]): ReadonlyMap<string, OfferedTool> {
  const known = new Map<string, OfferedTool>()
  for (const tool of tools) {
    if (known.has(tool.spec.name)) {
      throw new EvsysError('PLUGIN_CONFLICT', `two tools are called "${tool.spec.name}"`, {
        fix: 'rename one, or give the MCP server a `prefix`.',
      })
    }
    known.set(tool.spec.name, tool)
  }
  return known
}

// Tool calls in plain text, for models that tools cannot be declared to: how they are described to the model, and how its answer is read.

/** What stands in the system message in place of declared tools. */
function toolsInWords(tools: readonly ToolSpec[]): string {
  const list = tools.map(({ name, description = '', parameters }) => JSON.stringify({ name, description, parameters }))
  return [
    'You can call these tools:',
    ...list,
    'To call one, write {"name": ..., "arguments": {...}} between <tool_call> and </tool_call>. You may call several at once.',
    'Their results come in the next message. When you need no tool any more, answer without a call.',
  ].join('\n')
}

type ReadCall = { readonly call: ToolCall } | { readonly fault: string }

/** The calls in an answer; one that cannot be read is there with what is wrong with it. */
function readCalls(text: string): ReadCall[] {
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
  if (!isMapping(args)) return { fault: '"arguments" is no object' }
  return { call: { type: 'function', function: { name, arguments: { ...args } } } }
}

/** Results as the user message that follows. */
function resultsInWords(results: readonly { name: string; text: string }[]): string {
  return results.map(({ name, text }) => `<tool_response name="${name}">\n${text}\n</tool_response>`).join('\n')
}
