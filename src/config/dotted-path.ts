// Paths as people write them: `runs.0.seed`, `metadata.benchmark.0.limit`, and `"a.b"` for a key that holds a dot. What an
// error prints as the path of a value can be given to `--set` as it is.
import type { Path, Step } from './located.ts'

/** The path as text. Keys that could be taken for something else are put in quotes. */
export function formatPath(path: Path): string {
  return path.map((step) => (typeof step === 'number' ? String(step) : formatKey(step))).join('.')
}

function formatKey(key: string): string {
  // Digits alone would be read as an index, and `=` would end the path of a `--set`.
  return /^[^\s."'\\=]+$/u.test(key) && !/^\d+$/.test(key) ? key : JSON.stringify(key)
}

/** The steps of a path, or why it is none: a message and the offset it is about. */
export type ParsedPath = { path: Path } | { message: string; offset: number }

/** Reads a path. Digits alone are an index; quotes, `'` or `"`, or a `\` before a character take it literally. */
export function parsePath(text: string): ParsedPath {
  const steps: Step[] = []
  let at = 0
  while (true) {
    const step = readStep(text, at)
    if ('message' in step) return step
    steps.push(step.value)
    at = step.end
    if (at === text.length) return { path: steps }
    if (text[at] !== '.') return { message: 'a dot is missing after the quote', offset: at }
    at += 1
  }
}

function readStep(text: string, start: number): { value: Step; end: number } | { message: string; offset: number } {
  const quote = text[start]
  if (quote === '"' || quote === "'") return readQuoted(text, start, quote)
  let value = ''
  let at = start
  let isLiteral = false
  while (at < text.length && text[at] !== '.') {
    if (text[at] === '\\') {
      at += 1
      isLiteral = true
      if (at === text.length) return { message: 'nothing follows the backslash', offset: at - 1 }
    }
    value += text[at]
    at += 1
  }
  if (value === '') return { message: 'a step of the path is empty', offset: start }
  return { value: !isLiteral && isIndex(value) ? Number(value) : value, end: at }
}

function readQuoted(text: string, start: number, quote: string): ReturnType<typeof readStep> {
  let value = ''
  let at = start + 1
  while (at < text.length && text[at] !== quote) {
    if (text[at] === '\\' && quote === '"') {
      const escaped = /^\\(?:u[0-9a-fA-F]{4}|.)/su.exec(text.slice(at, at + 8))?.[0] ?? '\\'
      value += unescaped(escaped)
      at += escaped.length
    } else {
      value += text[at]
      at += 1
    }
  }
  if (at >= text.length) return { message: 'the quote is not closed', offset: start }
  return { value, end: at + 1 }
}

// JSON's escapes; any other character after a backslash stands for itself.
function unescaped(sequence: string): string {
  if (/^\\[bfnrt]|^\\u./.test(sequence)) return String(JSON.parse(`"${sequence}"`))
  return sequence.slice(1)
}

// Written without leading zeros, and small enough to be one.
function isIndex(text: string): boolean {
  return /^(?:0|[1-9]\d{0,8})$/.test(text)
}
