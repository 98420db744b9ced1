// Tables for a terminal: columns as wide as their content, the widest ones wrapped by words when the terminal is narrow.
import { textWidth, visibleText } from '../../kernel/index.ts'
import type { Output } from './output.ts'

type TableOptions = {
  /** Titles of the columns. */
  head?: readonly string[] | undefined
  /** Columns that the table may take; infinite: nothing is wrapped. */
  width?: number | undefined
  indent?: number | undefined
  /** Paints the titles; must not change their width on screen. */
  paintHead?: ((text: string) => string) | undefined
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
  const natural = Array.from({ length: count }, (_, i) => Math.max(0, ...cells.map((row) => columnsOf(row[i] ?? ''))))
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

// Plain text, which is nearly all of it, needs no look at what its characters are.
function columnsOf(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : textWidth(text)
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - columnsOf(text)))
}

/** Breaks a text into lines of at most `width` columns, between words where it can. */
export function wrap(text: string, width: number): string[] {
  if (columnsOf(text) <= width) return [text]
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ').flatMap((each) => pieces(each, width))) {
    const longer = line === '' ? word : `${line} ${word}`
    if (columnsOf(longer) <= width) line = longer
    else {
      lines.push(line)
      line = word
    }
  }
  return [...lines, line]
}

// A word that is wider than its column is cut between characters.
function pieces(word: string, width: number): string[] {
  if (columnsOf(word) <= width) return [word]
  const found: string[] = []
  let piece = ''
  // Made when needed: it loads tables that most output has no use for.
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(word)) {
    if (piece !== '' && columnsOf(piece + segment) > width) {
      found.push(piece)
      piece = ''
    }
    piece += segment
  }
  return [...found, piece]
}

// Facts with their names before them: the names in a column, the texts wrapped beside it.
/** `paint` must not change the width of the text on screen. */
export type Fact = readonly [label: string, text: string, paint?: (text: string) => string]

/** Lays out facts. Control characters in them are shown, not sent; line breaks in them are lines. */
export function labelledLines(facts: readonly Fact[], { colors, width }: Pick<Output, 'colors' | 'width'>): string {
  const labelWidth = Math.max(0, ...facts.map(([label]) => label.length)) + 2
  return facts
    .map(([label, text, paint = (plain) => plain]) => {
      const lines = text
        .trim()
        .split('\n')
        .flatMap((line) => wrap(visibleText(line.trimEnd()), Math.max(20, width - labelWidth)))
        .map(paint)
      return `${colors.bold(visibleText(label).padEnd(labelWidth))}${lines.join(`\n${' '.repeat(labelWidth)}`)}`.trimEnd()
    })
    .join('\n')
}
