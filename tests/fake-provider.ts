// A provider of models on loopback that speaks three wire formats and misbehaves on request: real sockets, real HTTP.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** What happens to one request. `slow`: no answer for as long as the server lives. */
export type Misbehaviour =
  | { status: number; headers?: Record<string, string> | undefined; body?: string | undefined }
  | 'truncated'
  | 'malformed'
  | 'reset'
  | 'slow'

// biome-ignore lint/suspicious/noExplicitAny: tests look into the bodies of three formats
export type Loose = any

export interface Heard {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Loose
}

export interface FakeProvider {
  /** Address for each format: of its default path. */
  readonly url: string
  readonly heard: readonly Heard[]
  /** How the next requests go wrong, in order; those after them are answered. */
  misbehave(...next: Misbehaviour[]): void
  close(): Promise<void>
}

/** The answer of a model in the provider's own form. */
export type Reply = (heard: Heard) => unknown

/** Starts a provider; it is closed when the test ends. Every answer takes 1000 tokens of prompt and 100 of completion. */
export async function startFakeProvider(reply: Reply = defaultReply): Promise<FakeProvider> {
  const heard: Heard[] = []
  const next: Misbehaviour[] = []
  const server = createServer((request, response) => {
    readBody(request).then(
      (text) => {
        const one = { path: request.url ?? '', headers: request.headers, body: JSON.parse(text) }
        heard.push(one)
        answer(response, next.shift(), one.path, () => JSON.stringify(reply(one)))
      },
      () => response.destroy(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  onTestFinished(async () => {
    if (server.listening) await close()
  })
  const { port } = server.address() as AddressInfo // it listens on a port
  return { url: `http://127.0.0.1:${port}`, heard, misbehave: (...more) => void next.push(...more), close }
}

/** `pong` in the form of the route that was asked. */
export function defaultReply({ path }: Heard): unknown {
  if (path.endsWith('/v1/messages')) {
    return {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-6',
      content: [{ type: 'text', text: 'pong' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 1000, output_tokens: 100, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
    }
  }
  if (path.endsWith(':generateContent')) {
    return {
      candidates: [{ content: { role: 'model', parts: [{ text: 'pong' }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 100, totalTokenCount: 1100 },
      modelVersion: 'gemini-2.5-flash',
    }
  }
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'gpt-4.1-2025-04-14',
    choices: [{ index: 0, message: { role: 'assistant', content: 'pong' }, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      total_tokens: 1100,
      prompt_tokens_details: { cached_tokens: 0 },
    },
  }
}

function answer(response: ServerResponse, fault: Misbehaviour | undefined, path: string, whole: () => string): void {
  if (fault === 'slow') return
  if (fault === 'reset') return void response.socket?.resetAndDestroy()
  if (typeof fault === 'object') {
    response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers })
    return void response.end(fault.body ?? JSON.stringify(errorBody(path, fault.status)))
  }
  const text = whole()
  if (fault === 'truncated') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    response.write(text.slice(0, text.length / 2), () => response.destroy())
    return
  }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(fault === 'malformed' ? text.slice(0, text.length / 2) : text)
}

// What the providers say to a failure, in the form of the route.
function errorBody(path: string, status: number): unknown {
  if (path.endsWith('/v1/messages')) {
    const [type = 'api_error', message = 'Internal server error'] = anthropicErrors[status] ?? []
    return { type: 'error', error: { type, message }, request_id: 'req_1' }
  }
  const [code = 'server_error', message = 'The server had an error'] = openaiErrors[status] ?? []
  return { error: { message, type: code, param: null, code } }
}

const anthropicErrors: Readonly<Record<number, readonly string[]>> = {
  401: ['authentication_error', 'invalid x-api-key'],
  429: ['rate_limit_error', 'This request would exceed your rate limit.'],
  529: ['overloaded_error', 'Overloaded'],
}
const openaiErrors: Readonly<Record<number, readonly string[]>> = {
  401: ['invalid_api_key', 'Incorrect API key provided.'],
  429: ['rate_limit_exceeded', 'Rate limit reached.'],
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}
