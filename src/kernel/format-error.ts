// Errors as people read them in a terminal. It prints nothing itself and trusts no text: messages, paths and source lines
// may hold anything that a file or a plugin can hold.
import type { Excerpt, Problem } from './evsys-error.ts'
import { type Glyph, glyphsOf, textWidth, visibleText } from './text-forms.ts'

export type FormatOptions = { color?: boolean | undefined }

/** Columns of source text to show; a longer line is cut around its caret. */
const windowWidth = 100
const tabWidth = 4
/** An excerpt may span lines; more than this hides the message above it. */
const maxLines = 4

export function formatProblems(problems: readonly Problem[], options: FormatOptions = {}): string {
  return problems.map((problem) => formatProblem(problem, options)).join('\n\n')
}

/** Prints one problem: place and code, what is wrong, the source with a caret, the fix. */
export function formatProblem(problem: Problem, { color = false }: FormatOptions = {}): string {
  const paint = color ? painted : plain
  const { code, message, where, fix, excerpt } = problem
  const place = where === undefined ? '' : `${visibleText(where.file)}:${where.line}:${where.col}  `
  const path = where?.path === undefined || where.path === '' ? '' : `${visibleText(where.path)}: `
  return [
    `${paint('place', place)}${paint('code', visibleText(code))}`,
    `  ${path}${indented(message)}`,
    ...(excerpt === undefined ? [] : excerptLines(excerpt, paint)),
    ...(fix === undefined ? [] : [`  ${paint('fix', 'fix:')} ${indented(fix)}`]),
  ].join('\n')
}

// The first line follows its label; the others stand below it, so that no line of a message looks like a new error.
function indented(text: string): string {
  return visibleText(text.replace(/\r\n?/g, '\n'), { newlines: true }).trimEnd().replaceAll('\n', '\n    ')
}

function excerptLines(excerpt: Excerpt, paint: Paint): string[] {
  const lines = excerpt.text.split(/\r\n|\r|\n/).slice(0, maxLines)
  const numberWidth = String(excerpt.line + lines.length - 1).length
  const view = windowed(lines[0] ?? '', excerpt)
  const bar = (label: string) => `  ${paint('gutter', `${label.padStart(numberWidth)} |`)} `
  return [
    `${bar(String(excerpt.line))}${view.text}`.trimEnd(),
    `${bar('')}${' '.repeat(view.before)}${paint('caret', '^'.repeat(view.marked))}`,
    ...lines.slice(1).map((line, i) => `${bar(String(excerpt.line + i + 1))}${windowed(line).text}`.trimEnd()),
  ]
}

type View = { text: string; before: number; marked: number }

// The part of a line around its mark, as it will stand on the screen: `before` and `marked` count columns.
function windowed(line: string, mark: { col: number; length: number } = { col: 1, length: 0 }): View {
  const cells = cellsOf(nearby(line, mark.col - 1))
  const total = cells.at(-1)?.end ?? 0
  const from = Math.max(0, mark.col - 1)
  const to = from + Math.max(mark.length, 1)
  const marked = cells.filter((cell) => cell.stop > from && cell.start < to)
  const begin = marked[0]?.column ?? total
  const end = Math.max(marked.at(-1)?.end ?? begin, begin + 1)
  // A quarter of the window before the mark: what follows it explains more than what precedes it.
  const first = total <= windowWidth ? 0 : Math.max(0, Math.min(begin - windowWidth / 4, total - windowWidth))
  const seen = cells.filter((cell) => cell.column >= first && cell.end <= first + windowWidth)
  const cutLeft = (seen[0]?.start ?? 0) > 0
  const cutRight = (seen.at(-1)?.stop ?? 0) < line.length && seen.length > 0
  const offset = (seen[0]?.column ?? 0) - (cutLeft ? 1 : 0)
  return {
    text: `${cutLeft ? '…' : ''}${seen.map((cell) => cell.text).join('')}${cutRight ? '…' : ''}`,
    before: begin - offset,
    marked: Math.max(1, Math.min(end, first + windowWidth) - begin),
  }
}

// Splitting into characters is slow: of a line of megabytes only what can be near the window is looked at.
function nearby(line: string, at: number): { text: string; from: number } {
  const reach = 1_000
  const from = line.length <= 2 * reach ? 0 : Math.max(0, Math.min(at, line.length) - reach)
  return { text: line.slice(from, from + 2 * reach), from }
}

type Cell = { text: string; start: number; stop: number; column: number; end: number }

function cellsOf({ text, from }: { text: string; from: number }): Cell[] {
  let column = 0
  return glyphsOf(text).map((glyph) => {
    const shown = shownGlyph(glyph, column)
    const cell = {
      text: shown.text,
      start: from + glyph.start,
      stop: from + glyph.start + glyph.text.length,
      column,
      end: column + shown.width,
    }
    column = cell.end
    return cell
  })
}

function shownGlyph(glyph: Glyph, column: number): { text: string; width: number } {
  if (glyph.text === '\t') {
    const width = tabWidth - (column % tabWidth)
    return { text: ' '.repeat(width), width }
  }
  const text = visibleText(glyph.text)
  return { text, width: text === glyph.text ? glyph.width : textWidth(text) }
}

type Part = 'place' | 'code' | 'gutter' | 'caret' | 'fix'
type Paint = (part: Part, text: string) => string

const sgr: Record<Part, string> = { place: '1', code: '1;31', gutter: '2', caret: '31', fix: '1;32' }
const painted: Paint = (part, text) => (text === '' ? '' : `\u001B[${sgr[part]}m${text}\u001B[0m`)
const plain: Paint = (_part, text) => text
