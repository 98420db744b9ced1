// The capture proxy on a port of this machine, for as long as it is open.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { OpenInferenceClient, Random, Sampling, SeedPath } from '../../contracts/index.ts'
import { EvsysError, messageOf } from '../../kernel/index.ts'
import { limitOf } from '../policy/limit-reached.ts'
import {
  type CaptureProxy,
  type CaptureProxyOptions,
  createCaptureProxy,
  type OpenProxySession,
} from './capture-proxy.ts'
import type { ProxySessionOptions } from './proxy-session.ts'

export interface ServedSession extends OpenProxySession {
  /** For clients of OpenAI: ends in `/v1`. */
  readonly openaiUrl: string
  /** For clients of Anthropic, who add `/v1/messages` themselves. */
  readonly anthropicUrl: string
}

export interface ProxyServer extends AsyncDisposable {
  readonly port: number
  open(trial: ProxySessionOptions): ServedSession
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
  const opened: OpenProxySession[] = []
  return {
    port,
    open(trial) {
      const own = proxy.open(trial)
      opened.push(own)
      const anthropicUrl = `http://127.0.0.1:${port}${own.path}`
      return Object.defineProperties(own, {
        anthropicUrl: { value: anthropicUrl, enumerable: true },
        openaiUrl: { value: `${anthropicUrl}/v1`, enumerable: true },
      }) as ServedSession // the two addresses were just added
    },
    async [Symbol.asyncDispose]() {
      for (const trial of opened) trial[Symbol.dispose]()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

// The proxy's side of one run of an agent that is a separate program: its address and key, and the end of an agent that keeps asking.

/** An agent that was refused this often and keeps asking is ended. */
const mostReminders = 3

interface AgentSessionOptions {
  readonly policy: OpenInferenceClient
  readonly sampling: Sampling
  random(...path: SeedPath): Random
  readonly params: { readonly model: string; readonly sampling: 'trial' | 'client' }
}

/** `ended` aborts when the agent has to be ended. */
export function openAgentSession(
  server: Pick<ProxyServer, 'open'>,
  { policy, sampling, random, params }: AgentSessionOptions,
): { readonly trial: ServedSession; readonly ended: AbortSignal } {
  const ending = new AbortController()
  let reminders = 0
  const trial = server.open({
    policy,
    sampling,
    model: params.model,
    maxTurns: Number.POSITIVE_INFINITY, // the policy keeps the limit, so that the attempt is known to have reached it
    clientSampling: params.sampling === 'client',
    seed: (conversation, repeat) => random(conversation, repeat).int(2 ** 32),
    onFailure: (error) => {
      if (limitOf(error) !== undefined && ++reminders >= mostReminders) ending.abort(error)
    },
  })
  return { trial, ended: ending.signal }
}
