// Where a value stands in a TOML text: the TOML parser reports lines of syntax errors alone. Follows tables and plain keys, line by
// line; a value inside an inline table is placed at the key that holds it.

type Path = readonly (string | number)[]

/** Line and column (1-based) of the value at `path`, else of its nearest parent; the start of the file where there is none. */
export function locateToml(text: string, path: Path): { line: number; col: number } {
  let best = { line: 1, col: 1, depth: 0 }
  for (const entry of entriesOf(text)) {
    const isParent = entry.path.length <= path.length && entry.path.every((step, index) => step === path[index])
    if (isParent && entry.path.length > best.depth)
      best = { line: entry.line, col: entry.col, depth: entry.path.length }
  }
  return { line: best.line, col: best.col }
}

type Entry = { path: Path; line: number; col: number }

const keyPart = String.raw`(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')`
const dotted = String.raw`${keyPart}(?:\s*\.\s*${keyPart})*`
const header = new RegExp(String.raw`^\s*(\[\[?)\s*(${dotted})\s*\]\]?`)
const assignment = new RegExp(String.raw`^\s*(${dotted})\s*=`)

function* entriesOf(text: string): Generator<Entry> {
  const counts = new Map<string, number>() // elements so far of each array of tables
  let table: Path = []
  let quote: string | undefined // the delimiter of the long string that is open
  for (const [index, line] of text.split('\n').entries()) {
    const wasOpen = quote !== undefined
    quote = openQuote(line, quote)
    if (wasOpen) continue
    const at = { line: index + 1, col: line.length - line.trimStart().length + 1 }
    const head = header.exec(line)
    if (head !== null) {
      table = tablePath(partsOf(head[2] ?? ''), head[1] === '[[', counts)
      yield { path: table, ...at }
      continue
    }
    const key = assignment.exec(line)?.[1]
    if (key !== undefined) yield { path: [...table, ...partsOf(key)], ...at }
  }
}

// `[a.b]` after `[[a]]` is in the last element of `a`.
function tablePath(parts: readonly string[], isElement: boolean, counts: Map<string, number>): Path {
  const path: (string | number)[] = []
  for (const [index, part] of parts.entries()) {
    path.push(part)
    const key = JSON.stringify(path)
    const isLast = index === parts.length - 1
    if (isLast && isElement) counts.set(key, (counts.get(key) ?? -1) + 1)
    const element = counts.get(key)
    if (element !== undefined) path.push(element)
  }
  return path
}

function partsOf(key: string): string[] {
  return [...key.matchAll(new RegExp(keyPart, 'g'))].map(([part]) => part.replace(/^(["'])(.*)\1$/, '$2'))
}

function openQuote(line: string, open: string | undefined): string | undefined {
  let quote = open
  for (const [mark] of line.matchAll(/"""|'''|#/g)) {
    if (mark === '#') {
      if (quote === undefined) break
    } else if (quote === undefined) quote = mark
    else if (quote === mark) quote = undefined
  }
  return quote
}
