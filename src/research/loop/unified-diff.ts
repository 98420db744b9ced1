// A unified diff of two sets of files, for people and for `patch`.
import type { CandidateFiles } from '../../contracts/index.ts'

const CONTEXT = 3

/** The diff of all files that differ, empty where none does. */
export function unifiedDiff(before: CandidateFiles, after: CandidateFiles): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return names
    .filter((name) => before[name] !== after[name])
    .map((name) => fileDiff(name, before[name], after[name]))
    .join('')
}

function fileDiff(name: string, before: string | undefined, after: string | undefined): string {
  const head = `--- ${before === undefined ? '/dev/null' : `a/${name}`}\n+++ ${after === undefined ? '/dev/null' : `b/${name}`}\n`
  return head + hunks(linesOf(before ?? ''), linesOf(after ?? '')).join('')
}

type Edit = { readonly sign: ' ' | '-' | '+'; readonly line: string }

function linesOf(text: string): string[] {
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  else lines.push(`${lines.pop() ?? ''}\n\\ No newline at end of file`)
  return lines
}

function hunks(a: readonly string[], b: readonly string[]): string[] {
  const edits = editsOf(a, b)
  const changed = edits.flatMap(({ sign }, i) => (sign === ' ' ? [] : [i]))
  const groups: [number, number][] = []
  for (const i of changed) {
    const last = groups.at(-1)
    if (last !== undefined && i - last[1] <= 2 * CONTEXT) last[1] = i
    else groups.push([i, i])
  }
  return groups.map(([first, last]) => {
    const from = Math.max(0, first - CONTEXT)
    const shown = edits.slice(from, last + CONTEXT + 1)
    const before = edits.slice(0, from)
    const startA = before.filter(({ sign }) => sign !== '+').length
    const startB = before.filter(({ sign }) => sign !== '-').length
    const lengthA = shown.filter(({ sign }) => sign !== '+').length
    const lengthB = shown.filter(({ sign }) => sign !== '-').length
    const place = (start: number, length: number) => `${length === 0 ? start : start + 1},${length}`
    const body = shown.map(({ sign, line }) => `${sign}${line}\n`).join('')
    return `@@ -${place(startA, lengthA)} +${place(startB, lengthB)} @@\n${body}`
  })
}

// Longest common subsequence between the common beginning and end. Past a million cells the middle is replaced as a whole.
function editsOf(a: readonly string[], b: readonly string[]): Edit[] {
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++
  const same = (lines: readonly string[]): Edit[] => lines.map((line) => ({ sign: ' ', line }))
  const middle = middleEdits(a.slice(head, a.length - tail), b.slice(head, b.length - tail))
  return [...same(a.slice(0, head)), ...middle, ...same(tail === 0 ? [] : a.slice(-tail))]
}

function middleEdits(a: readonly string[], b: readonly string[]): Edit[] {
  if (a.length * b.length > 1_000_000) {
    return [...a.map((line): Edit => ({ sign: '-', line })), ...b.map((line): Edit => ({ sign: '+', line }))]
  }
  const width = b.length + 1
  const common = new Int32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const skip = Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0)
      common[i * width + j] = a[i] === b[j] ? (common[(i + 1) * width + j + 1] ?? 0) + 1 : skip
    }
  }
  const edits: Edit[] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    const left = a[i]
    const right = b[j]
    if (left !== undefined && left === right) {
      edits.push({ sign: ' ', line: left })
      i++
      j++
    } else if (
      left !== undefined &&
      (j >= b.length || (common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0))
    ) {
      edits.push({ sign: '-', line: left })
      i++
    } else {
      edits.push({ sign: '+', line: right ?? '' })
      j++
    }
  }
  return edits
}
