// How a command speaks: one result on stdout, notices on stderr. Under --json the result is one document and nothing else
// reaches stdout.
import type { CliIo } from '../io.ts'
import { type Colors, colorsFor, plainColors } from './colors.ts'

export interface Output {
  readonly json: boolean
  readonly quiet: boolean
  /** Columns of the terminal; infinite where stdout is none, so that nothing is wrapped for a program. */
  readonly width: number
  readonly colors: Colors
  /** The result of the command: `document` under --json, else `text`. Once per command. */
  result(document: unknown, text: () => string): void
  /** A part of the answer that cannot wait for the result. Under --json it goes to stderr. */
  say(text: string): void
  /** What a reader should know besides the result. */
  notice(text: string): void
  /** Text for stderr, whatever was asked for. */
  complain(text: string): void
  /** Whether stderr gets colours. */
  readonly complainsInColor: boolean
}

export function createOutput(io: CliIo, { json, quiet }: { json: boolean; quiet: boolean }): Output {
  const loud = json ? plainColors : colorsFor(io.stderr, io.env)
  return {
    json,
    quiet,
    width: io.stdout.isTTY === true ? (io.stdout.columns ?? 80) : Number.POSITIVE_INFINITY,
    colors: json ? plainColors : colorsFor(io.stdout, io.env),
    result(document, text) {
      io.stdout.write(json ? `${JSON.stringify(document, null, 2)}\n` : withNewline(text()))
    },
    say(text) {
      const sink = json ? io.stderr : io.stdout
      sink.write(withNewline(text))
    },
    notice(text) {
      if (!quiet) io.stderr.write(`${loud.yellow('notice:')} ${text}\n`)
    },
    complain(text) {
      io.stderr.write(withNewline(text))
    },
    complainsInColor: loud.isColorSupported,
  }
}

function withNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}
