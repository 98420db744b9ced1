// A file of a candidate as the rules see it: its text, the same with comments and texts blanked, and where lines begin.

import type { AttemptFailure, FailureClass } from '../../../contracts/index.ts'
import { visibleText } from '../../../kernel/index.ts'
import { type Language, languageOf, maskCode } from '../../propose/code/knob-sites.ts'

export interface CodeFile {
  readonly path: string
  readonly language: Language
  readonly text: string
  /** Comments and the insides of texts are spaces, every other character is in its place. */
  readonly code: string
  lineAt(position: number): number
  /** The text whose opening quote stands at `position`; undefined: none, or one that is put together while running. */
  literalAt(position: number): string | undefined
}

/** No module or file has a longer name. */
const longestLiteral = 20_000
/** More matches of one pattern in one file add nothing. */
const mostMatches = 50

/** Undefined where a file is in a language that is not read. */
export function codeFile(path: string, text: string): CodeFile | undefined {
  const language = languageOf(path)
  const lines = text.split('\n')
  if (language === undefined) return undefined
  const starts: number[] = []
  for (let at = 0, i = 0; i < lines.length; at += (lines[i]?.length ?? 0) + 1, i++) starts.push(at)
  return {
    path,
    language,
    text,
    code: maskCode(text, language),
    lineAt(position) {
      let [low, high] = [0, starts.length]
      while (high - low > 1) {
        const middle = (low + high) >> 1
        if ((starts[middle] ?? 0) <= position) low = middle
        else high = middle
      }
      return low + 1
    },
    literalAt(position) {
      const quote = text[position]
      if (quote !== "'" && quote !== '"' && quote !== '`') return undefined
      const line = text.slice(position + 1, position + longestLiteral).split('\n')[0] ?? ''
      const end = line.indexOf(quote)
      const inside = end < 0 ? undefined : line.slice(0, end)
      return inside === undefined || /\\|\$\{/.test(inside) ? undefined : inside
    },
  }
}

/** The first places where a pattern stands in the code of a file. */
export function* matchesIn(file: CodeFile, pattern: RegExp): Generator<RegExpExecArray> {
  let count = 0
  for (const match of file.code.matchAll(pattern)) {
    if (++count > mostMatches) return
    yield match
  }
}

/** One thing that is wrong with a candidate. */
export interface Finding {
  readonly class: Extract<FailureClass, 'syntax' | 'validation' | 'tamper'>
  readonly file?: string | undefined
  readonly line?: number | undefined
  readonly message: string
  readonly fix: string
}

/** More than these do not help to repair it. */
const mostFindings = 20

/** In the order of files and lines, as the loop keeps them. */
export function asFailures(findings: readonly Finding[]): AttemptFailure[] {
  const sorted = [...findings].sort(
    (a, b) => compare(a.file ?? '', b.file ?? '') || (a.line ?? 0) - (b.line ?? 0) || compare(a.message, b.message),
  )
  return sorted.slice(0, mostFindings).map(({ class: failureClass, file, line, message, fix }) => {
    const place = file === undefined ? '' : `${file}${line === undefined ? '' : `:${line}`}: `
    return { class: failureClass, reason: visibleText(`${place}${message}; fix: ${fix}`).slice(0, 1000) }
  })
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
