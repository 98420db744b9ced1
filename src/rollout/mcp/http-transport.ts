// An MCP server behind a URL, by streamable HTTP: a POST for each message, answered by JSON or by a stream of events.
import { messageOf } from '../../kernel/index.ts'
import type { McpServer } from './mcp-server-spec.ts'
import { Incoming, type Outgoing } from './messages.ts'
import { eventData } from './sse-data.ts'
import { maxMessageBytes, type Transport, type TransportEvents } from './transport.ts'

/** What saying goodbye may take. */
const LEAVE_MS = 1_000

export function openHttpTransport(
  { url = '', headers }: McpServer,
  { onMessage, onClosed }: TransportEvents,
): Transport {
  let session: string | undefined
  let version: string | undefined
  const open = new AbortController()
  const reading = new Set<Promise<void>>()
  const own = () => ({
    ...headers,
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
    ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
  })
  const take = async (response: Response): Promise<void> => {
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    if (isStream && response.body !== null) {
      for await (const data of eventData(response.body, maxMessageBytes)) onMessage(Incoming.parse(JSON.parse(data)))
      return
    }
    const text = await response.text()
    if (text.trim() === '') return
    const value: unknown = JSON.parse(text)
    for (const each of Array.isArray(value) ? value : [value]) onMessage(Incoming.parse(each))
  }
  return {
    agree(agreed) {
      version = agreed
    },
    async send(message: Outgoing, signal) {
      const stop = new AbortController()
      const end = () => stop.abort()
      signal.addEventListener('abort', end, { once: true })
      open.signal.addEventListener('abort', end, { once: true })
      if (signal.aborted || open.signal.aborted) end()
      const forget = () => {
        signal.removeEventListener('abort', end)
        open.signal.removeEventListener('abort', end)
      }
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...own() },
          body: JSON.stringify(message),
          signal: stop.signal,
        })
        session ??= response.headers.get('mcp-session-id') ?? undefined
        if (!response.ok) throw new Error(`it answers ${response.status}: ${(await response.text()).slice(0, 500)}`)
        // The answer may be a stream that goes on for as long as the tool runs.
        const taken = take(response)
          .catch((error: unknown) => {
            if (!stop.signal.aborted) onClosed(new Error(`the MCP server ${url}: ${messageOf(error)}`))
          })
          .finally(() => {
            forget()
            reading.delete(taken)
          })
        reading.add(taken)
      } catch (cause) {
        forget()
        throw new Error(`the MCP server ${url}: ${messageOf(cause)}`, { cause })
      }
    },
    async [Symbol.asyncDispose]() {
      open.abort()
      await Promise.allSettled(reading)
      if (session === undefined) return
      const stop = new AbortController()
      const timer = setTimeout(() => stop.abort(), LEAVE_MS)
      const goodbye = await fetch(url, { method: 'DELETE', headers: own(), signal: stop.signal }).catch(() => undefined)
      await goodbye?.body?.cancel().catch(() => {})
      clearTimeout(timer)
    },
  }
}
