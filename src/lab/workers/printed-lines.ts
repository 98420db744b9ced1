// What a process prints, handed on in whole lines: a secret that arrives in two pieces is still found and removed.
import type { Redact } from '../../kernel/index.ts'

export interface PrintedLines {
  add(text: string): void
  /** Hands on what has no end of line. */
  close(): void
}

/** A line that does not end is cut here. */
const longest = 64 * 1024

export function createPrintedLines(redact: Redact, tell: (text: string) => void): PrintedLines {
  let rest = ''
  const handOn = (text: string) => {
    if (text !== '') tell(redact(text))
  }
  return {
    add(text) {
      const all = `${rest}${text}`
      const end = all.length > longest ? all.length : all.lastIndexOf('\n') + 1
      rest = all.slice(end)
      handOn(all.slice(0, end))
    },
    close() {
      handOn(rest)
      rest = ''
    },
  }
}
