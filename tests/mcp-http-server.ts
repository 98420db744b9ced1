// An MCP server by streamable HTTP on a free port of loopback: sessions, answers as JSON or as a stream of events.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type McpMessage, mcpAnswers } from './mcp-answers.ts'

export interface McpHttpServer extends AsyncDisposable {
  readonly url: string
  /** Method, session and version of every request. */
  readonly seen: readonly string[]
}

/** `mode`: what it does wrong. `stream`: answers are streams of events, in pieces. */
export async function serveMcp({ mode = '', stream = false } = {}): Promise<McpHttpServer> {
  const seen: string[] = []
  const answer = mcpAnswers(mode)
  const server = createServer(async (request, response) => {
    const {
      'mcp-session-id': session = '-',
      'mcp-protocol-version': version = '-',
      authorization = '-',
    } = request.headers
    seen.push([request.method, session, version, authorization].join(' '))
    if (request.method !== 'POST') return response.writeHead(200).end()
    const message: McpMessage = JSON.parse(await bodyOf(request))
    if (mode === 'refuses') return response.writeHead(401).end('who are you?')
    if (mode === 'garbage') return response.writeHead(200, { 'content-type': 'application/json' }).end('{oops')
    const said = answer(message)
    if (said === undefined && message.params?.name === 'wait') return // never answers
    if (said === undefined) return response.writeHead(202).end()
    const text = JSON.stringify({ jsonrpc: '2.0', ...said })
    const headers = message.method === 'initialize' ? { 'mcp-session-id': 's1' } : {}
    if (!stream) return response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(text)
    response.writeHead(200, { 'content-type': 'text/event-stream', ...headers })
    response.write(
      ': a comment\r\nevent: message\r\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\r\n\r\nda',
    )
    setImmediate(() => response.end(`ta: ${text}\n\n`))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const bytes of request) text += String(bytes)
  return text
}
