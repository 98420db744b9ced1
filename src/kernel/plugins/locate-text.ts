// Places in source files, for errors about code: a line, a column and the text to show.
import { readFileSync } from 'node:fs'
import type { Location } from '../../contracts/index.ts'
import type { Excerpt } from '../evsys-error.ts'

export type Place = { where: Location; excerpt?: Excerpt }

/** The place of a line. Column 0 stands for "somewhere in the line". A line past the end is the last one with text. */
export function placeOfLine(file: string, line: number, col = 0): Place {
  const lines = linesOf(file)
  let last = Math.min(Math.max(line, 1), Math.max(lines.length, 1))
  while (last > 1 && (lines[last - 1] ?? '').trim() === '') last--
  const text = lines[last - 1] ?? ''
  const isInLine = last === line && col >= 1 && col <= text.length + 1
  const indent = text.length - text.trimStart().length
  const start = isInLine ? col : indent + 1
  const length = isInLine ? wordAt(text, col) : Math.max(text.trim().length, 1)
  const where = { file, line: last, col: start }
  return text.trim() === '' ? { where } : { where, excerpt: { text, line: last, col: start, length } }
}

/** The place of the first match of the first pattern that matches; the start of the file where none does. */
export function placeOfText(file: string, patterns: readonly RegExp[]): Place {
  const source = linesOf(file).join('\n')
  for (const pattern of patterns) {
    const match = pattern.exec(source)
    if (match === null) continue
    const before = source.slice(0, match.index + match[0].length - match[0].trimStart().length).split('\n')
    return placeOfLine(file, before.length, (before.at(-1)?.length ?? 0) + 1)
  }
  return placeOfLine(file, 1)
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8')
      .replace(/^\uFEFF/, '')
      .split(/\r\n|\r|\n/)
  } catch {
    return [] // gone or unreadable: the error that led here says so
  }
}

function wordAt(text: string, col: number): number {
  return /^(?:[\w$]+|["'`][^"'`]*["'`])/.exec(text.slice(col - 1))?.[0].length ?? 1
}
