// A client of the Model Context Protocol, as far as tools go: hands are shaken, tools listed and called. Written against the public
// specification; what a server asks of its client beyond a ping is refused.
import { EvsysError, messageOf, onAbort } from '../../kernel/index.ts'
import { openHttpTransport } from './http-transport.ts'
import type { McpServer } from './mcp-server-spec.ts'
import { type Incoming, Initialized, type Outgoing, protocolVersions, ToolAnswer, ToolList } from './messages.ts'
import { openStdioTransport } from './stdio-transport.ts'
import type { Transport } from './transport.ts'

export interface McpTool {
  readonly name: string
  readonly description?: string
  readonly inputSchema?: Readonly<Record<string, unknown>>
}

export interface McpClient extends AsyncDisposable {
  readonly tools: readonly McpTool[]
  call(name: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ToolAnswer>
}

/** More pages than any list of tools has; a server that never ends its list is refused. */
const maxPages = 100
const methodNotFound = -32601

interface Waiting {
  resolve(result: Record<string, unknown>): void
  reject(error: Error): void
}

/** Starts or reaches a server and asks for its tools. */
export async function openMcpClient(server: McpServer, signal: AbortSignal): Promise<McpClient> {
  const waiting = new Map<string | number, Waiting>()
  let closed: Error | undefined
  let transport: Transport | undefined
  const events = {
    onMessage: (message: Incoming) => take(message, waiting, (answer) => transport?.send(answer, signal)),
    onClosed(error: Error) {
      closed ??= error
      for (const { reject } of waiting.values()) reject(error)
      waiting.clear()
    },
  }
  const carrier =
    server.url === undefined ? await openStdioTransport(server, events) : openHttpTransport(server, events)
  transport = carrier
  let asked = 0
  const ask = (method: string, params: Record<string, unknown>, until: AbortSignal) =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      if (closed !== undefined) return reject(closed)
      asked += 1
      const id = asked
      const stopListening = onAbort(until, () => {
        waiting.delete(id)
        reject(until.reason)
        const notice: Outgoing = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } }
        if (closed === undefined) carrier.send(notice, signal).catch(() => {})
      })
      const done =
        <A extends unknown[]>(then: (...args: A) => void) =>
        (...args: A) => {
          stopListening()
          waiting.delete(id)
          then(...args)
        }
      waiting.set(id, { resolve: done(resolve), reject: done(reject) })
      carrier.send({ jsonrpc: '2.0', id, method, params }, until).catch(done(reject))
    })
  try {
    const tools = await shakeHands(server, carrier, ask, signal)
    return {
      tools,
      call: async (name, args, until) => ToolAnswer.parse(await ask('tools/call', { name, arguments: args }, until)),
      [Symbol.asyncDispose]: () => carrier[Symbol.asyncDispose](),
    }
  } catch (cause) {
    await carrier[Symbol.asyncDispose]()
    signal.throwIfAborted()
    const which = server.url ?? server.command ?? ''
    throw new EvsysError('PLUGIN_LOAD', `the MCP server ${which} gives no tools: ${messageOf(cause)}`, {
      cause,
      fix: 'run it by hand and see whether it answers; `mcp_servers` says how it is reached.',
    })
  }
}

type Ask = (method: string, params: Record<string, unknown>, until: AbortSignal) => Promise<Record<string, unknown>>

async function shakeHands(server: McpServer, transport: Transport, ask: Ask, signal: AbortSignal): Promise<McpTool[]> {
  const late = new AbortController()
  const stopListening = onAbort(signal, () => late.abort(signal.reason))
  const timer = setTimeout(
    () => late.abort(new Error(`it did not answer within ${server.start_timeout_s} s`)),
    server.start_timeout_s * 1000,
  )
  try {
    const [newest] = protocolVersions
    const hello = { protocolVersion: newest, capabilities: {}, clientInfo: { name: 'evsys', version: '1' } }
    const { protocolVersion } = Initialized.parse(await ask('initialize', hello, late.signal))
    if (!protocolVersions.some((known) => known === protocolVersion)) {
      throw new Error(`it speaks version ${protocolVersion} of the protocol; known are ${protocolVersions.join(', ')}`)
    }
    transport.agree(protocolVersion)
    await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' }, late.signal)
    return await listTools(ask, late.signal)
  } finally {
    clearTimeout(timer)
    stopListening()
  }
}

async function listTools(ask: Ask, signal: AbortSignal): Promise<McpTool[]> {
  const found: McpTool[] = []
  let cursor: string | undefined
  for (let page = 0; page < maxPages; page++) {
    const { tools, nextCursor } = ToolList.parse(
      await ask('tools/list', cursor === undefined ? {} : { cursor }, signal),
    )
    for (const { name, description, inputSchema } of tools) {
      found.push({
        name,
        ...(description === undefined ? {} : { description }),
        ...(inputSchema === undefined ? {} : { inputSchema }),
      })
    }
    if (nextCursor === undefined) return found
    cursor = nextCursor
  }
  throw new Error('its list of tools does not end')
}

function take(
  message: Incoming,
  waiting: Map<string | number, Waiting>,
  answer: (message: Outgoing) => Promise<void> | undefined,
): void {
  if (typeof message.method === 'string') {
    if (message.id === undefined || message.id === null) return // a notice
    const { id, method } = message
    const said: Outgoing =
      method === 'ping'
        ? { jsonrpc: '2.0', id, result: {} }
        : { jsonrpc: '2.0', id, error: { code: methodNotFound, message: `${method} is not supported` } }
    answer(said)?.catch(() => {}) // a server that is gone is told of elsewhere
    return
  }
  const known = message.id === null || message.id === undefined ? undefined : waiting.get(message.id)
  if ('error' in message) {
    const { message: words } = Object(message.error) as { message?: unknown } // as the schema has it
    known?.reject(new Error(String(words)))
  } else known?.resolve(Object(message.result))
}
