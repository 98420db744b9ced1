// A client of the Model Context Protocol, as far as tools go: they are listed and called. The protocol is the SDK's; limits, deadlines
// and errors are ours. Results are read by tolerant schemas, and no schema that a server sends is ever compiled.
import type { RequestOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import * as z from 'zod'
import { EvsysError, messageOf, onAbort } from '../../kernel/index.ts'
import type { OfferedTool } from '../tools/tool.ts'
import type { McpServer } from './mcp-server.ts'
import { maxMessageBytes, StdioTransport } from './stdio-transport.ts'

interface McpTool {
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema?: Readonly<Record<string, unknown>> | undefined
}

interface McpClient extends AsyncDisposable {
  readonly tools: readonly McpTool[]
  call(name: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ToolAnswer>
}

const ToolList = z.looseObject({
  tools: z.array(
    z.looseObject({
      name: z.string().min(1),
      description: z.string().optional(),
      inputSchema: z.record(z.string(), z.unknown()).optional(),
    }),
  ),
  nextCursor: z.string().optional(),
})

const ToolAnswer = z.looseObject({
  content: z.array(z.looseObject({ type: z.string() })).default([]),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  isError: z.boolean().optional(),
})
export type ToolAnswer = z.infer<typeof ToolAnswer>

/** Versions of the protocol that are understood, newest first. The first is asked for. */
const protocolVersions = ['2025-06-18', '2025-03-26', '2024-11-05']
/** More pages than any list of tools has; a server that never ends its list is refused. */
const maxPages = 100
/** The SDK gives a request a minute by default; ours end by their signal alone. */
const noTimeoutMs = 2 ** 31 - 1
/** What ending a session may take. */
const GOODBYE_MS = 1_000

type Ask = <T>(until: AbortSignal, request: (options: RequestOptions) => Promise<T>) => Promise<T>

/** Starts or reaches a server and asks for its tools. */
export async function openMcpClient(server: McpServer, signal: AbortSignal): Promise<McpClient> {
  const sdk = await import('@modelcontextprotocol/client') // with the first server: most runs have none
  const { url, headers } = server
  const transport =
    url === undefined
      ? new StdioTransport(server, sdk.deserializeMessage)
      : new sdk.StreamableHTTPClientTransport(new URL(url), { requestInit: { headers }, fetch: boundedFetch(url) })
  const broken = new AbortController()
  if (transport instanceof sdk.StreamableHTTPClientTransport) {
    // A stream that breaks off fails the calls that wait for it; the SDK would let them wait.
    transport.onerror = (error) => broken.abort(new Error(`the MCP server ${url}: ${messageOf(error)}`))
  }
  const client = new sdk.Client({ name: 'evsys', version: '1' }, { supportedProtocolVersions: protocolVersions })
  const ask: Ask = async (until, request) => {
    try {
      return await request({ signal: AbortSignal.any([until, broken.signal]), timeout: noTimeoutMs })
    } catch (cause) {
      until.throwIfAborted()
      throw (transport instanceof StdioTransport ? transport.failure : broken.signal.reason) ?? cause
    }
  }
  const close = async () => {
    if (!(transport instanceof StdioTransport)) await endSession(transport)
    await client.close()
  }
  try {
    const tools = await within(server.start_timeout_s, signal, async (until) => {
      await ask(until, (options) => client.connect(transport, options))
      return listTools(ask, until, (params, options) =>
        client.request({ method: 'tools/list', params }, ToolList, options),
      )
    })
    return {
      tools,
      call: (name, args, until) =>
        ask(until, (options) =>
          client.request({ method: 'tools/call', params: { name, arguments: { ...args } } }, ToolAnswer, options),
        ),
      [Symbol.asyncDispose]: close,
    }
  } catch (cause) {
    await transport.close()
    signal.throwIfAborted()
    const message = `the MCP server ${url ?? server.command ?? ''} gives no tools: ${reasonOf(cause)}`
    throw new EvsysError('PLUGIN_LOAD', message, {
      cause,
      fix: 'run it by hand and see whether it answers; `mcp_servers` says how it is reached.',
    })
  }
}

async function within<T>(seconds: number, signal: AbortSignal, work: (until: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController()
  const stopListening = onAbort(signal, () => late.abort(signal.reason))
  const timer = setTimeout(() => late.abort(new Error(`it did not answer within ${seconds} s`)), seconds * 1000)
  try {
    return await work(late.signal)
  } finally {
    clearTimeout(timer)
    stopListening()
  }
}

async function listTools(
  ask: Ask,
  until: AbortSignal,
  page: (params: { cursor?: string }, options: RequestOptions) => Promise<z.infer<typeof ToolList>>,
): Promise<McpTool[]> {
  const found: McpTool[] = []
  let params: { cursor?: string } = {}
  for (let pages = 0; pages < maxPages; pages++) {
    const { tools, nextCursor } = await ask(until, (options) => page(params, options))
    for (const { name, description, inputSchema } of tools) found.push({ name, description, inputSchema })
    if (nextCursor === undefined) return found
    params = { cursor: nextCursor }
  }
  throw new Error('its list of tools does not end')
}

function reasonOf(cause: unknown): string {
  const version = /protocol version is not supported: (\S+)/.exec(messageOf(cause))?.[1]
  if (version === undefined) return messageOf(cause)
  return `it speaks version ${version} of the protocol; known are ${protocolVersions.join(', ')}`
}

/** Requests of the transport, with answers of a bounded size. The stream of a server's own notices is not opened: tools need none. */
function boundedFetch(url: string): typeof fetch {
  return async (target, init) => {
    const isResumed = new Headers(init?.headers).has('last-event-id')
    if (init?.method === 'GET' && !isResumed) return new Response(null, { status: 405 })
    const response = await fetch(target, init).catch((cause: unknown) => {
      throw new Error(`the MCP server ${url}: ${messageOf(cause)}`, { cause })
    })
    if (init?.method === 'POST' && !response.ok) {
      const text = (await response.text()).slice(0, 500)
      throw new Error(`the MCP server ${url}: it answers ${response.status}: ${text}`)
    }
    if (response.body === null) return response
    const { status, statusText } = response
    return new Response(response.body.pipeThrough(messageBound()), { status, statusText, headers: response.headers })
  }
}

// An answer is one message, or events with one message each: the count begins anew where an event ends.
function messageBound(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      const end = Math.max(Buffer.from(chunk).lastIndexOf('\n\n'), Buffer.from(chunk).lastIndexOf('\r\n\r\n'))
      bytes = end === -1 ? bytes + chunk.length : chunk.length - end
      if (bytes > maxMessageBytes) controller.error(new Error('a message is too long'))
      else controller.enqueue(chunk)
    },
  })
}

async function endSession(transport: StreamableHTTPClientTransport): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, GOODBYE_MS)
  })
  await Promise.race([transport.terminateSession().catch(() => {}), late]) // a server that is gone has no session
  clearTimeout(timer)
}

interface OpenMcpTools extends AsyncDisposable {
  readonly tools: readonly OfferedTool[]
}

/** The tools of servers, as an agent offers them. Servers are opened together; one that cannot be opened closes the others. */
export async function openMcpTools(servers: readonly McpServer[], signal: AbortSignal): Promise<OpenMcpTools> {
  const settled = await Promise.allSettled(servers.map((server) => openMcpClient(server, signal)))
  const clients = settled.map((each) => (each.status === 'fulfilled' ? each.value : undefined))
  const close = async () => {
    await Promise.allSettled(clients.map((client) => client?.[Symbol.asyncDispose]()))
  }
  const failed = settled.find((each) => each.status === 'rejected')
  if (failed !== undefined) {
    await close()
    throw failed.reason
  }
  const tools = servers.flatMap((server, i) => {
    const client = clients[i]
    return client === undefined ? [] : toolsOf(client, server)
  })
  return { tools, [Symbol.asyncDispose]: close }
}

function toolsOf(client: McpClient, { prefix, tools: wanted }: McpServer): OfferedTool[] {
  return client.tools
    .filter(({ name }) => wanted === undefined || wanted.includes(name))
    .map(({ name, description, inputSchema }) => ({
      spec: { name: `${prefix}${name}`, description, parameters: inputSchema ?? { type: 'object', properties: {} } },
      async call(args, signal) {
        const answer = await client.call(name, args, signal)
        const text = textOf(answer)
        if (answer.isError === true) throw new Error(text)
        return text
      },
    }))
}

/** Text as it is; of what is no text, its kind. */
function textOf({ content, structuredContent }: ToolAnswer): string {
  const parts = content.map((part) => {
    if (part.type === 'text' && typeof part.text === 'string') return part.text
    const { text } = Object(part.resource) as { text?: unknown } // of an embedded resource
    return typeof text === 'string' ? text : `[${part.type}]`
  })
  if (parts.length === 0 && structuredContent !== undefined) return JSON.stringify(structuredContent)
  return parts.join('\n')
}
