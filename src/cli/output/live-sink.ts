// A stream that keeps a few lines at its end up to date, such as the progress of runs. What else is written lands above them.
// Where no terminal is, the lines are not shown.
import type { TextSink } from '../io.ts'

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
