// Where a value stands in a JSON text, for errors about it. The text is known to be valid.

type Path = readonly (string | number)[]

/** Line and column, from 1, of the value at a path; of the nearest value above it where there is none. */
export function locateInJson(text: string, path: Path): { line: number; col: number } {
  let at = skipSpace(text, 0)
  for (const step of path) {
    const below =
      text[at] === '{' ? member(text, at, String(step)) : text[at] === '[' ? item(text, at, Number(step)) : -1
    if (below === -1) break
    at = below
  }
  const before = text.slice(0, at)
  const lineStart = before.lastIndexOf('\n') + 1
  let line = 1
  for (let i = before.indexOf('\n'); i !== -1; i = before.indexOf('\n', i + 1)) line += 1
  return { line, col: at - lineStart + 1 }
}

function member(text: string, open: number, key: string): number {
  let at = skipSpace(text, open + 1)
  while (text[at] === '"') {
    const end = stringEnd(text, at)
    const value = skipSpace(text, skipSpace(text, end) + 1)
    if (JSON.parse(text.slice(at, end)) === key) return value
    at = skipSpace(text, valueEnd(text, value))
    if (text[at] !== ',') break
    at = skipSpace(text, at + 1)
  }
  return -1
}

function item(text: string, open: number, index: number): number {
  let at = skipSpace(text, open + 1)
  for (let i = 0; text[at] !== ']'; i++) {
    if (i === index) return at
    at = skipSpace(text, valueEnd(text, at))
    if (text[at] !== ',') break
    at = skipSpace(text, at + 1)
  }
  return -1
}

function valueEnd(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; ) {
    const char = text[at]
    if (char === '"') at = stringEnd(text, at)
    else if (char === '{' || char === '[') {
      depth += 1
      at += 1
      continue
    } else if (char === '}' || char === ']') {
      if (depth === 0) return at
      depth -= 1
      at += 1
    } else if (char === ',' && depth === 0) return at
    else {
      at += 1
      continue
    }
    if (depth === 0) return at
  }
  return text.length
}

function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at += 1
    else if (text[at] === '"') return at + 1
  }
  return text.length
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return at
}
