// A port that takes connections and answers nothing of itself: what a trainer looks like that hangs or goes away.
import { createServer, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** Listens until the end of the test and hands every connection over. */
export async function listenOnPort(
  onConnection: (socket: Socket) => void = () => {},
): Promise<{ server: Server; url: string }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    onConnection(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it listens on a port')
  return { server, url: `http://127.0.0.1:${address.port}` }
}
