// The command line in this process: arguments in, exit code and both streams out.
import { fileURLToPath } from 'node:url'
import type { CliIo } from '../../src/cli/io.ts'
import { main } from '../../src/cli/main.ts'

export interface CliResult {
  code: number
  stdout: string
  stderr: string
}

export interface RunOptions {
  cwd?: string
  env?: Record<string, string>
  stdin?: string
  /** Makes both streams terminals of this width. */
  columns?: number
  signal?: AbortSignal
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
    stdin: (async function* () {
      yield options.stdin ?? ''
    })(),
    cwd: options.cwd ?? root,
    // The PATH is real: doctor and plugin loading start programs.
    env: { PATH: process.env.PATH ?? '', ...options.env },
    signal: options.signal ?? new AbortController().signal,
  }
  const code = await main(args, io)
  return { code, ...written }
}
