// Tables for a terminal: columns as wide as their content, the widest ones wrapped by words when the terminal is narrow.
import { textWidth, visibleText } from '../../kernel/index.ts'

export type TableOptions = {
  /** Titles of the columns. */
  head?: readonly string[]
  /** Columns that the table may take; infinite: nothing is wrapped. */
  width?: number
  indent?: number
  /** Paints the titles; must not change their width on screen. */
  paintHead?: (text: string) => string
}

const gap = 2
/** A column narrower than this cannot be read; a table in a tiny terminal rather overflows. */
const narrowest = 8

/** Lays out rows of texts. Control characters in them are shown, not sent. */
export function table(
  rows: readonly (readonly string[])[],
  { head, width = Number.POSITIVE_INFINITY, indent = 0, paintHead = (text) => text }: TableOptions = {},
): string {
  const cells = [...(head === undefined ? [] : [head]), ...rows].map((row) => row.map((cell) => visibleText(cell)))
  const count = Math.max(0, ...cells.map((row) => row.length))
  const natural = Array.from({ length: count }, (_, i) => Math.max(0, ...cells.map((row) => textWidth(row[i] ?? ''))))
  const widths = shrink(natural, width - indent - gap * Math.max(0, count - 1))
  return cells
    .map((row, i) => layRow(row, widths, indent, head !== undefined && i === 0 ? paintHead : (text) => text))
    .join('\n')
}

// Takes columns away from the widest until all fit.
function shrink(natural: readonly number[], room: number): number[] {
  const widths = [...natural]
  const total = () => widths.reduce((sum, each) => sum + each, 0)
  while (total() > room) {
    const widest = Math.max(...widths)
    if (widest <= narrowest) break
    widths[widths.lastIndexOf(widest)] = widest - 1
  }
  return widths
}

function layRow(
  row: readonly string[],
  widths: readonly number[],
  indent: number,
  paint: (text: string) => string,
): string {
  const columns = widths.map((width, i) => wrap(row[i] ?? '', width))
  const height = Math.max(1, ...columns.map((lines) => lines.length))
  return Array.from({ length: height }, (_, line) => {
    const parts = columns.map((lines, i) => pad(lines[line] ?? '', widths[i] ?? 0))
    return `${' '.repeat(indent)}${paint(parts.join(' '.repeat(gap)).trimEnd())}`.trimEnd()
  }).join('\n')
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)))
}

/** Breaks a text into lines of at most `width` columns, between words where it can. */
export function wrap(text: string, width: number): string[] {
  if (textWidth(text) <= width) return [text]
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ').flatMap((each) => pieces(each, width))) {
    const longer = line === '' ? word : `${line} ${word}`
    if (textWidth(longer) <= width) line = longer
    else {
      lines.push(line)
      line = word
    }
  }
  return [...lines, line]
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

// A word that is wider than its column is cut between characters.
function pieces(word: string, width: number): string[] {
  if (textWidth(word) <= width) return [word]
  const found: string[] = []
  let piece = ''
  for (const { segment } of segmenter.segment(word)) {
    if (piece !== '' && textWidth(piece + segment) > width) {
      found.push(piece)
      piece = ''
    }
    piece += segment
  }
  return [...found, piece]
}
