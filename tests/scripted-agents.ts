// A provider of models on loopback for the true Claude Code and the true Codex: a scripted model that reads, edits and answers by the
// tools that the programs offer it, over their streams.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import * as z from 'zod'

/** One answer of the model. */
export type Act =
  | { readonly read: string }
  | { readonly edit: string; readonly from: string; readonly to: string; readonly label: string }
  | { readonly run: string }
  | { readonly say: string }
  /** The provider answers this status. */
  | { readonly status: number; readonly type: string; readonly message: string }
  /** The stream ends in the middle. */
  | 'cut'

/** The answer to a conversation in which tools were called `turn` times; `said` is all that was sent. */
export type Script = (turn: number, said: string) => Act

const Asked = z.looseObject({
  model: z.string(),
  stream: z.boolean().optional(),
  messages: z.array(z.looseObject({ role: z.string() })).default([]),
  input: z.array(z.looseObject({ type: z.string().optional() })).default([]),
})
type Asked = z.output<typeof Asked>

export interface ScriptedProvider {
  readonly url: string
  readonly heard: { readonly path: string; readonly headers: IncomingMessage['headers'] }[]
}

/** Starts the provider; it is closed when the test ends. Every answer takes 3100 tokens of prompt for Claude, 3000 for Codex, and 50 of completion. */
export async function startScriptedProvider(script: Script): Promise<ScriptedProvider> {
  const heard: ScriptedProvider['heard'] = []
  const server = createServer((request, response) => {
    answer(request, response, script, heard).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => closed(server))
  const { port } = server.address() as AddressInfo // it listens on a port
  return { url: `http://127.0.0.1:${port}`, heard }
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  script: Script,
  heard: ScriptedProvider['heard'],
): Promise<void> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  const said = Buffer.concat(parts).toString('utf8')
  const path = (request.url ?? '').replace(/\?.*/, '')
  heard.push({ path, headers: request.headers })
  const wire = wires[path]
  if (request.method !== 'POST' || wire === undefined) return void response.writeHead(404).end()
  const asked = Asked.parse(JSON.parse(said))
  const act = script(wire.turn(asked), said)
  if (typeof act === 'object' && 'status' in act) {
    const { status, type, message } = act
    response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_1' })
    return void response.end(JSON.stringify({ type: 'error', error: { type, code: type, message } }))
  }
  const isCut = act === 'cut'
  const events = wire.events(asked, isCut ? { say: 'never heard' } : act, said, heard.length)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of isCut ? events.slice(0, 2) : events)
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  if (isCut) response.destroy()
  else response.end()
}

type Event = { readonly type: string }
type Doing = Exclude<Act, 'cut' | { readonly status: number }>

const wires: Readonly<
  Record<string, { turn(asked: Asked): number; events(asked: Asked, act: Doing, said: string, id: number): Event[] }>
> = {
  '/v1/messages': {
    turn: ({ messages }) => messages.filter(({ role }) => role === 'assistant').length,
    events: messageEvents,
  },
  '/v1/responses': {
    turn: ({ input }) => input.filter(({ type }) => type === 'custom_tool_call_output').length,
    events: responseEvents,
  },
}

function messageEvents({ model }: Asked, act: Doing, said: string, id: number): Event[] {
  const folder = /working directory: ([^\\" ]+)/i.exec(said)?.[1] ?? ''
  const blocks = claudeCalls(act, folder).map(([name, input], at) => ({ id: `toolu_${id}_${at}`, name, input }))
  const usage = {
    input_tokens: 100,
    cache_creation_input_tokens: 1000,
    cache_read_input_tokens: 2000,
    output_tokens: 1,
  }
  const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model, content: [], usage }
  const ends = { stop_reason: blocks.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null }
  const content = (index: number, content_block: object, delta: object) => [
    { type: 'content_block_start', index, content_block },
    { type: 'content_block_delta', index, delta },
    { type: 'content_block_stop', index },
  ]
  return [
    { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } } as Event,
    ...('say' in act ? content(0, { type: 'text', text: '' }, { type: 'text_delta', text: act.say }) : []),
    ...blocks.flatMap(({ input, ...block }, index) =>
      content(
        index,
        { type: 'tool_use', ...block, input: {} },
        { type: 'input_json_delta', partial_json: JSON.stringify(input) },
      ),
    ),
    { type: 'message_delta', delta: ends, usage: { output_tokens: 50 } } as Event,
    { type: 'message_stop' },
  ]
}

function claudeCalls(act: Doing, folder: string): [string, object][] {
  if ('read' in act) return [['Read', { file_path: `${folder}/${act.read}` }]]
  if ('run' in act) return [['Bash', { command: act.run, description: 'runs' }]]
  if ('say' in act) return []
  return [
    ['Edit', { file_path: `${folder}/${act.edit}`, old_string: act.from, new_string: act.to }],
    ['Write', { file_path: `${folder}/IDEA.json`, content: act.label }],
  ]
}

function responseEvents({ model }: Asked, act: Doing, _said: string, id: number): Event[] {
  const item = {
    id: `item_${id}`,
    status: 'completed',
    ...('say' in act
      ? { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: act.say, annotations: [] }] }
      : { type: 'custom_tool_call', call_id: `call_${id}`, name: 'exec', input: codexCode(act) }),
  }
  const usage = {
    input_tokens: 3000,
    input_tokens_details: { cached_tokens: 2000 },
    output_tokens: 50,
    output_tokens_details: { reasoning_tokens: 10 },
    total_tokens: 3050,
  }
  const response = { id: `resp_${id}`, object: 'response', created_at: 1, model, output: [] }
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress' } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress' } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { ...response, status: 'completed', output: [item], usage } },
  ].map((event, sequence_number) => ({ ...event, sequence_number }))
}

// Models of OpenAI get one tool, which runs JavaScript that calls the others.
function codexCode(act: Exclude<Doing, { readonly say: string }>): string {
  const shell = (cmd: string) => `text((await tools.exec_command({ cmd: ${JSON.stringify(cmd)} })).output)`
  if ('read' in act) return shell(`cat ${act.read}`)
  if ('run' in act) return shell(act.run)
  const { edit, from, to, label } = act
  const patch = [
    ...['*** Begin Patch', `*** Update File: ${edit}`, '@@', `-${from}`, `+${to}`],
    ...['*** Add File: IDEA.json', `+${label}`, '*** End Patch', ''],
  ].join('\n')
  return `text(await tools.apply_patch(${JSON.stringify(patch)}))`
}
