// The command line as a process: its streams, its signals, its end.
import { writeSync } from 'node:fs'
import { exitCodes } from './context/command-context.ts'
import { main } from './main.ts'
import type { CliIo } from './output/io.ts'

/** Runs the command line of this process and ends it with the exit code. */
export async function start(): Promise<void> {
  const { stdout, stderr, stdin } = process
  for (const stream of [stdout, stderr]) stream.on('error', ignoreClosedPipe)
  const controller = new AbortController()
  const argv = process.argv.slice(2)
  const io: CliIo = { stdout, stderr, stdin, cwd: process.cwd(), env: process.env, signal: controller.signal }
  // What is thrown where no one awaits it ends here too, and not in a stack trace.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => void fail(error, io, argv))
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // The second time the user does not want to wait any longer.
      if (controller.signal.aborted) {
        writeSync(stderr.fd, 'interrupted again: ended at once; what was not saved is done again by --resume\n')
        process.exit(exitCodes.interrupted)
      }
      controller.abort()
    })
  }
  // Emitted when nothing keeps the event loop alive: what the command waits for would never come, and Node would exit with 0.
  process.once('beforeExit', () => {
    void fail(new Error('nothing is left to wait for, and the command is not done'), io, argv)
  })
  await end(await main(argv, io))
}

async function fail(error: unknown, io: CliIo, argv: readonly string[]): Promise<void> {
  const { reportError } = await import('./context/report-error.ts')
  await end(reportError(error, io, { json: argv.includes('--json') }))
}

async function end(code: number): Promise<never> {
  await Promise.all([flushed(process.stdout), flushed(process.stderr)])
  process.exit(code) // a plugin or an unread stdin may have left a handle open
}

// `evsys list | head -1`: the reader has seen enough, and the exit code is still ours to tell.
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') process.exit(exitCodes.failed)
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()))
}
