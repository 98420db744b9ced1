// How a command speaks: one result on stdout, notices on stderr. Under --json the result is one document and nothing else
// reaches stdout.

import type { AnnouncedWait, announceWait } from '../../kernel/index.ts'
import { type Colors, colorsFor, plainColors } from './colors.ts'
import type { CliIo, TextSink } from './io.ts'

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

interface OutputOptions {
  readonly json: boolean
  readonly quiet: boolean
  /** Called when the result is printed. */
  readonly onResult?: (() => void) | undefined
}

export function createOutput(io: CliIo, { json, quiet, onResult }: OutputOptions): Output {
  const loud = json ? plainColors : colorsFor(io.stderr, io.env)
  return {
    json,
    quiet,
    width: io.stdout.isTTY === true ? (io.stdout.columns ?? 80) : Number.POSITIVE_INFINITY,
    colors: json ? plainColors : colorsFor(io.stdout, io.env),
    result(document, text) {
      io.stdout.write(json ? `${JSON.stringify(document, null, 2)}\n` : withNewline(text()))
      onResult?.()
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

export type Silence = AnnouncedWait

/** Has a command that writes nothing for a while say what it is at, whatever it waits for. Its result ends that. */
export function watchSilence(announce: typeof announceWait, live: TextSink, doing: () => string | undefined): Silence {
  let isOwn = false
  const waiting = announce((seconds) => {
    isOwn = true // what is said here is no sign of life
    live.write(`still at it after ${seconds} s: ${doing() ?? 'reading what the command names'}\n`)
    isOwn = false
  })
  return {
    restart: () => (isOwn ? undefined : waiting.restart()),
    [Symbol.dispose]: () => waiting[Symbol.dispose](),
  }
}

/** A stream whose writes are heard. */
export function heardSink(sink: TextSink, onWrite: () => void): TextSink {
  return {
    write(text) {
      onWrite()
      return sink.write(text)
    },
    get isTTY() {
      return sink.isTTY
    },
    get columns() {
      return sink.columns
    },
    get rows() {
      return sink.rows
    },
  }
}

// A stream that keeps a few lines at its end up to date, such as the progress of runs. What else is written lands above them.
// Where no terminal is, the lines are not shown.
export interface LiveSink extends TextSink {
  readonly isTTY: boolean
  readonly columns: number
  readonly rows: number
  /** Replaces the lines at the end. They must fit the terminal: a line that wraps is not found again. */
  show(lines: readonly string[]): void
}

/** Wraps a stream. Only one may be made of it: it alone knows what stands on the screen. */
export function createLiveSink(sink: TextSink): LiveSink {
  let shown: readonly string[] = []
  // Cursor: at the beginning of the line below the shown ones. One write for all of it, so that nothing flickers.
  const replace = (above: string, lines: readonly string[]) => {
    const up = shown.length === 0 ? '' : `\u001B[${shown.length}A`
    const over = above === '' ? '' : `\u001B[J${above}${above.endsWith('\n') ? '' : '\n'}`
    const below = lines.map((line) => `${line}\u001B[K\n`).join('')
    const rest = above === '' && lines.length < shown.length ? '\u001B[J' : ''
    shown = lines
    sink.write(`${up}${over}${below}${rest}`)
  }
  return {
    get isTTY() {
      return sink.isTTY === true
    },
    get columns() {
      return sink.columns ?? 80
    },
    get rows() {
      return sink.rows ?? 24
    },
    write(text) {
      if (shown.length === 0) return sink.write(text)
      return text === '' ? undefined : replace(text, shown)
    },
    show(lines) {
      if (sink.isTTY !== true || (lines.length === 0 && shown.length === 0)) return
      replace('', [...lines])
    },
  }
}
