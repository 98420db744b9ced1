// A way to a service that listens on a socket of this machine instead of a port: a process without a network reaches it. The socket decides
// where a request arrives, whatever host its address names.
import { Agent, type IncomingMessage, request } from 'node:http'
import type { Fetch } from './transport.ts'

export function socketFetch(socketPath: string): Fetch {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  return (url, { method = 'GET', headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const { pathname, search } = new URL(url)
      const own = signal ?? undefined
      const sent = { socketPath, agent, method, path: `${pathname}${search}`, headers: plain(headers) }
      const outgoing = request({ ...sent, ...(own === undefined ? {} : { signal: own }) }, (incoming) =>
        resolve({ status: incoming.statusCode ?? 0, headers: headersOf(incoming), body: incoming }),
      )
      outgoing.on('error', (cause) => reject(own?.aborted === true ? own.reason : cause))
      if (typeof body === 'string' || body instanceof Uint8Array) outgoing.end(body)
      else outgoing.end()
    })
}

function plain(headers: RequestInit['headers']): Record<string, string> {
  return Object.fromEntries(new Headers(headers).entries())
}

function headersOf({ headers }: IncomingMessage): { get(name: string): string | null } {
  return {
    get(name) {
      const value = headers[name.toLowerCase()]
      return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value
    },
  }
}
