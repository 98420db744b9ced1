// The command line in this process: arguments in, exit code and both streams out.
import { fileURLToPath } from 'node:url'
import { main } from '../../src/cli/main.ts'
import type { CliIo } from '../../src/cli/output/io.ts'
import { unhurried } from '../run-command.ts'

export interface CliResult {
  code: number
  stdout: string
  stderr: string
}

export interface RunOptions {
  cwd?: string | undefined
  env?: Record<string, string> | undefined
  stdin?: string | AsyncIterable<string> | undefined
  /** Makes both streams terminals of this width. */
  columns?: number | undefined
  signal?: AbortSignal | undefined
}

export const root = fileURLToPath(new URL('../..', import.meta.url))

export async function runMain(args: readonly string[], options: RunOptions = {}): Promise<CliResult> {
  const written = { stdout: '', stderr: '' }
  const sink = (name: keyof typeof written) => ({
    write: (text: string) => {
      written[name] += text
    },
    ...(options.columns === undefined ? {} : { isTTY: true, columns: options.columns }),
  })
  const io: CliIo = {
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    stdin: typeof options.stdin === 'object' ? options.stdin : once(options.stdin ?? ''),
    cwd: options.cwd ?? root,
    // The PATH is real: doctor and plugin loading start programs.
    env: { PATH: process.env.PATH ?? '', ...options.env },
    signal: options.signal ?? new AbortController().signal,
  }
  const code = await main(args, io)
  return { code, stdout: written.stdout, stderr: unhurried(written.stderr) }
}

async function* once(text: string): AsyncGenerator<string> {
  yield text
}
