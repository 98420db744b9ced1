// The capture proxy on a port of this machine, for as long as it is open.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { EvsysError, messageOf } from '../../kernel/index.ts'
import {
  type CaptureProxy,
  type CaptureProxyOptions,
  createCaptureProxy,
  type OpenProxyTrial,
} from './capture-proxy.ts'
import type { ProxyTrialOptions } from './proxy-trial.ts'

/** A trial with its addresses. */
export interface ServedTrial extends OpenProxyTrial {
  /** For clients of OpenAI: ends in `/v1`. */
  readonly openaiUrl: string
  /** For clients of Anthropic, who add `/v1/messages` themselves. */
  readonly anthropicUrl: string
}

export interface ProxyServer extends AsyncDisposable {
  readonly port: number
  open(trial: ProxyTrialOptions): ServedTrial
}

/** Listens on loopback until it is disposed of; then every trial is over. */
export async function serveProxy(options: CaptureProxyOptions = {}): Promise<ProxyServer> {
  const { getRequestListener } = await import('@hono/node-server')
  const proxy: CaptureProxy = createCaptureProxy(options)
  const server = createServer(getRequestListener((request) => proxy.fetch(request), { overrideGlobalObjects: false }))
  // An answer may take as long as the deadline of its trial allows.
  server.requestTimeout = 0
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new EvsysError('PLUGIN_FAILED', `the capture proxy cannot listen: ${messageOf(cause)}`, { cause })),
    )
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)) // not a pipe: a port was asked for
  })
  const opened: OpenProxyTrial[] = []
  return {
    port,
    open(trial) {
      const own = proxy.open(trial)
      opened.push(own)
      const anthropicUrl = `http://127.0.0.1:${port}${own.path}`
      return Object.defineProperties(own, {
        anthropicUrl: { value: anthropicUrl, enumerable: true },
        openaiUrl: { value: `${anthropicUrl}/v1`, enumerable: true },
      }) as ServedTrial // the two addresses were just added
    },
    async [Symbol.asyncDispose]() {
      for (const trial of opened) trial[Symbol.dispose]()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}
