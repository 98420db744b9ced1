// Lines of a file, such that joining them gives the file again.

export interface Lines {
  readonly lines: readonly string[]
  /** The last line has no line break. */
  readonly endsOpen: boolean
}

/**
 * The last line of a file that ends without a line break carries one as its mark, which no other line can hold: so it differs from
 * the same line with an end.
 */
export function linesOf(text: string): Lines {
  if (text === '') return { lines: [], endsOpen: false }
  const lines = text.split('\n')
  const last = lines.pop() ?? ''
  return last === '' ? { lines, endsOpen: false } : { lines: [...lines, `${last}\n`], endsOpen: true }
}

export function textOf(lines: readonly string[]): string {
  return lines.map((line) => (line.endsWith('\n') ? line.slice(0, -1) : `${line}\n`)).join('')
}
