// A trainer on a port of this machine.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { EvsysError, messageOf } from '../kernel/index.ts'
import type { Trainer } from './create-trainer.ts'

export type ServeOptions = {
  /** 0: any free port. */
  port: number
  /** Default: this machine alone. */
  host?: string | undefined
}

export interface TrainerServer extends AsyncDisposable {
  readonly url: string
}

/** Listens until it is disposed of. The trainer is the opener's to close. */
export async function serveTrainer(
  trainer: Trainer,
  { port, host = '127.0.0.1' }: ServeOptions,
): Promise<TrainerServer> {
  const server = createServer(getRequestListener((request) => trainer.fetch(request), { overrideGlobalObjects: false }))
  // Polls are held for half a minute, and clients keep their connections for much longer.
  server.keepAliveTimeout = 120_000
  server.requestTimeout = 300_000
  const address = await new Promise<AddressInfo>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new EvsysError('BACKEND_FAILED', `cannot listen on ${host}:${port}: ${messageOf(cause)}`, {
          cause,
          fix: 'choose another port.',
        }),
      ),
    )
    server.listen(port, host, () => resolve(server.address() as AddressInfo)) // not a pipe: a port was asked for
  })
  return {
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}
