// A text that someone wrote, and where in it something stands. Everything that is rewritten later keeps pointing here.
import type { Excerpt } from '../kernel/index.ts'

/** A file, the `--set` arguments, or a mapping that was made in code. */
export interface Source {
  /** As it is printed: the path the user gave, `--set`, `(value)`. */
  readonly name: string
  readonly text: string
  /** Folder that relative paths in the text start from. */
  readonly dir: string
  /** Layer in which it is laid over others, known once they are merged: where two say the same thing, the higher is meant. */
  rank: number
}

/** A piece of a source: UTF-16 offsets, end exclusive. */
export interface Span {
  readonly source: Source
  readonly start: number
  readonly end: number
}

/** 1-based line and column of an offset. */
export function positionOf(source: Source, offset: number): { line: number; col: number } {
  const starts = lineStartsOf(source)
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return { line: low + 1, col: offset - (starts[low] ?? 0) + 1 }
}

/** The line that a span starts on, with the part of the span that lies on it. */
export function excerptOf({ source, start, end }: Span): Excerpt {
  const { line, col } = positionOf(source, start)
  const from = lineStartsOf(source)[line - 1] ?? 0
  const newline = source.text.indexOf('\n', from)
  const text = source.text.slice(from, newline === -1 ? undefined : newline).replace(/\r$/, '')
  const visible = Math.max(0, Math.min(end - from, text.trimEnd().length) - (col - 1))
  return { text, line, col, length: Math.max(1, visible) }
}

const lineStarts = new WeakMap<Source, number[]>()

function lineStartsOf(source: Source): number[] {
  const known = lineStarts.get(source)
  if (known !== undefined) return known
  const starts = [0]
  for (let at = source.text.indexOf('\n'); at !== -1; at = source.text.indexOf('\n', at + 1)) starts.push(at + 1)
  lineStarts.set(source, starts)
  return starts
}
