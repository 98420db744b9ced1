// Files against files as a patch that `git apply` takes, in the folder of the files: without git's own header, with which paths would
// be those of a repository. Only an empty file needs it.
import { diffArrays } from 'diff'
import type { CandidateFiles } from '../../contracts/index.ts'

/** Lines of context around a change: what `diff -u` gives. */
export const DIFF_CONTEXT = 3

/** Empty where nothing differs. Files in the order of their names. */
export function unifiedDiff(before: CandidateFiles, after: CandidateFiles): string {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return paths.map((path) => fileDiff(path, before[path], after[path])).join('')
}

function fileDiff(path: string, before: string | undefined, after: string | undefined): string {
  if (before === after) return ''
  const name = quoted(path)
  const a = linesOf(before ?? '')
  const b = linesOf(after ?? '')
  const ranges = changedRanges(a.lines, b.lines)
  if (ranges.length === 0) {
    const mode = before === undefined ? 'new' : 'deleted'
    return `diff --git ${name('a/')} ${name('b/')}\n${mode} file mode 100644\n`
  }
  // A tab ends a name with spaces in it.
  const end = path.includes(' ') ? '\t' : ''
  const from = before === undefined ? '/dev/null' : name('a/') + end
  const to = after === undefined ? '/dev/null' : name('b/') + end
  const hunks = hunksOf(ranges).map((hunk) => hunkText(hunk, a, b))
  return `--- ${from}\n+++ ${to}\n${hunks.join('')}`
}

// Changes whose contexts touch are one hunk.
function hunksOf(ranges: readonly ChangedRange[]): ChangedRange[][] {
  const hunks: ChangedRange[][] = []
  for (const range of ranges) {
    const last = hunks.at(-1)?.at(-1)
    if (last !== undefined && range.aFrom - last.aTo <= 2 * DIFF_CONTEXT) hunks.at(-1)?.push(range)
    else hunks.push([range])
  }
  return hunks
}

function hunkText(ranges: readonly ChangedRange[], a: Lines, b: Lines): string {
  const [first] = ranges
  const last = ranges.at(-1)
  if (first === undefined || last === undefined) return ''
  const aFrom = Math.max(0, first.aFrom - DIFF_CONTEXT)
  const aTo = Math.min(a.lines.length, last.aTo + DIFF_CONTEXT)
  const bFrom = first.bFrom - (first.aFrom - aFrom)
  const bTo = last.bTo + (aTo - last.aTo)
  const texts: string[] = []
  let at = aFrom
  for (const range of ranges) {
    for (; at < range.aFrom; at++) texts.push(line(' ', a, at))
    for (; at < range.aTo; at++) texts.push(line('-', a, at))
    for (let i = range.bFrom; i < range.bTo; i++) texts.push(line('+', b, i))
  }
  for (; at < aTo; at++) texts.push(line(' ', a, at))
  return `@@ -${span(aFrom, aTo)} +${span(bFrom, bTo)} @@\n${texts.join('')}`
}

function line(sign: string, { lines, endsOpen }: Lines, i: number): string {
  const isOpen = endsOpen && i === lines.length - 1
  return `${sign}${(lines[i] ?? '').replace(/\n$/, '')}\n${isOpen ? '\\ No newline at end of file\n' : ''}`
}

// Of an empty range the line before it is named.
function span(from: number, to: number): string {
  return `${to === from ? from : from + 1},${to - from}`
}

// Git writes names with other than plain characters as C strings.
function quoted(path: string): (side: string) => string {
  if (/^[\w./+@=,-]+(?: [\w./+@=,-]+)*$/.test(path)) return (side) => side + path
  const bytes = [...new TextEncoder().encode(path)]
  const text = bytes
    .map((byte) => {
      if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`
      return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`
    })
    .join('')
  return (side) => `"${side}${text}"`
}

/** Lines `aFrom` to before `aTo` became lines `bFrom` to before `bTo`. */
export interface ChangedRange {
  readonly aFrom: number
  readonly aTo: number
  readonly bFrom: number
  readonly bTo: number
}

/** Edits beyond this many lines are not searched for: no one reads the shortest way between very different texts. */
const mostEdits = 2_000

/** Where two lists of lines differ, by the shortest edit; very different ones differ in one range. */
export function changedRanges(a: readonly string[], b: readonly string[]): ChangedRange[] {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let aEnd = a.length
  let bEnd = b.length
  while (aEnd > start && bEnd > start && a[aEnd - 1] === b[bEnd - 1]) {
    aEnd--
    bEnd--
  }
  if (start === aEnd && start === bEnd) return []
  const parts = diffArrays(a.slice(start, aEnd), b.slice(start, bEnd), { maxEditLength: mostEdits })
  if (parts === undefined) return [{ aFrom: start, aTo: aEnd, bFrom: start, bTo: bEnd }]
  const ranges: ChangedRange[] = []
  let [aFrom, bFrom, aTo, bTo] = [start, start, start, start]
  for (const { added, removed, count } of [...parts, { added: false, removed: false, count: 0 }]) {
    if (removed) aTo += count
    else if (added) bTo += count
    else {
      if (aTo > aFrom || bTo > bFrom) ranges.push({ aFrom, aTo, bFrom, bTo })
      aFrom = aTo += count
      bFrom = bTo += count
    }
  }
  return ranges
}

// Lines of a file, such that joining them gives the file again.
interface Lines {
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
