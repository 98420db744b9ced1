// The command line as a function: arguments in, exit code out. It prints to the streams it is given and ends no process.
// Everything heavy is imported when it is needed: `--version` costs one small file, `--help` the parser.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type ExitCode, exitCodes } from './context/command-context.ts'
import { packageVersion } from './context/package-version.ts'
import type { CliIo } from './output/io.ts'
import { createLiveSink, heardSink } from './output/output.ts'

/** Runs one command line. Never throws: what goes wrong is printed, and the exit code says so. */
export async function main(argv: readonly string[], outside: CliIo): Promise<ExitCode> {
  let onWrite = () => {}
  const heard = (sink: CliIo['stderr']) => heardSink(sink, () => onWrite())
  const io = { ...outside, stdout: heard(outside.stdout), stderr: createLiveSink(heard(outside.stderr)) }
  const options = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : argv.length)
  const json = options.includes('--json')
  if (options.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    io.stdout.write(`${packageVersion()}\n`)
    return exitCodes.done
  }
  const held = new Map<string, string>()
  const sayInterrupted = () => {
    const open = [...held].map(([what, onEnd]) => `${what}${onEnd}`).join(', ')
    io.stderr.write(
      `interrupted: ${open === '' ? 'nothing was left open' : `closing ${open}; a second signal ends it at once`}\n`,
    )
  }
  const sayWait = (text: unknown) => void io.stderr.write(`${text}\n`)
  io.signal.addEventListener('abort', sayInterrupted, { once: true })
  subscribe('evsys.wait', sayWait)
  try {
    const { runProgram } = await import('./program.ts')
    const onWritten = (listener: () => void) => {
      onWrite = listener
    }
    const code = await runProgram(argv, { io, json, held, onWritten })
    const hasPrinted = code === exitCodes.interrupted // a command that ends by interruption prints its document
    return io.signal.aborted && !hasPrinted ? await interrupted(io, json) : code
  } catch (error) {
    if (io.signal.aborted) return await interrupted(io, json, error)
    const { reportError } = await import('./context/report-error.ts')
    return reportError(error, io, { json })
  } finally {
    io.signal.removeEventListener('abort', sayInterrupted)
    unsubscribe('evsys.wait', sayWait)
  }
}

// The line on stderr is out already; a program that reads stdout gets its document too.
async function interrupted(io: CliIo, json: boolean, error?: unknown): Promise<ExitCode> {
  if (json) {
    const { reportError } = await import('./context/report-error.ts')
    const { EvsysError } = await import('../kernel/index.ts')
    const known = EvsysError.is(error) && error.code === 'INTERRUPTED' ? error : undefined
    return reportError(known ?? new EvsysError('INTERRUPTED', 'interrupted before the end'), io, { json })
  }
  return exitCodes.interrupted
}
