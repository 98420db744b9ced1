// The command line as a process: its streams, its signals, its end.
import { exitCodes } from './exit-code.ts'
import { main } from './main.ts'

/** Runs the command line of this process and ends it with the exit code. */
export async function start(): Promise<void> {
  const { stdout, stderr, stdin } = process
  for (const stream of [stdout, stderr]) stream.on('error', ignoreClosedPipe)
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // The second time the user does not want to wait any longer.
      if (controller.signal.aborted) process.exit(exitCodes.interrupted)
      controller.abort()
    })
  }
  const code = await main(process.argv.slice(2), {
    stdout,
    stderr,
    stdin,
    cwd: process.cwd(),
    env: process.env,
    signal: controller.signal,
  })
  await Promise.all([flushed(stdout), flushed(stderr)])
  process.exit(code) // a plugin or an unread stdin may have left a handle open
}

// `evsys list | head -1`: the reader has seen enough, and the exit code is still ours to tell.
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') process.exit(exitCodes.failed)
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()))
}
