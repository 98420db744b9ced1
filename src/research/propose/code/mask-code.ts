// Code with its comments and the insides of its texts blanked, every character in its place: so that what looks like an assignment
// inside a comment or a text is none.

export type Language = 'javascript' | 'python' | 'json' | 'yaml'

const languages: Readonly<Record<string, Language>> = {
  js: 'javascript',
  mjs: 'javascript',
  cjs: 'javascript',
  ts: 'javascript',
  mts: 'javascript',
  cts: 'javascript',
  jsx: 'javascript',
  tsx: 'javascript',
  py: 'python',
  toml: 'python', // its comments, texts and assignments are alike
  json: 'json',
  yaml: 'yaml',
  yml: 'yaml',
}

/** The language of a file by its name; undefined: one in which no knobs are looked for. */
export function languageOf(path: string): Language | undefined {
  const extension = path.slice(path.lastIndexOf('.') + 1).toLowerCase()
  return Object.hasOwn(languages, extension) ? languages[extension] : undefined
}

/** The same number of characters; comments and the insides of texts are spaces, line ends stay. */
export function maskCode(text: string, language: Language): string {
  const out = [...Array(text.length)].map((_, at) => text[at] ?? '')
  const blank = (from: number, to: number) => {
    for (let at = from; at < to; at++) if (out[at] !== '\n') out[at] = ' '
  }
  const hash = language === 'python' || language === 'yaml'
  const slashes = language === 'javascript'
  const templates: number[] = [] // depth of braces inside each open `${`
  let at = 0
  while (at < text.length) {
    const char = text[at]
    if (hash && char === '#' && (language === 'python' || at === 0 || /\s/.test(text[at - 1] ?? ''))) {
      const end = lineEnd(text, at)
      blank(at, end)
      at = end
    } else if (slashes && char === '/' && text[at + 1] === '/') {
      const end = lineEnd(text, at)
      blank(at, end)
      at = end
    } else if (slashes && char === '/' && text[at + 1] === '*') {
      const close = text.indexOf('*/', at + 2)
      const end = close === -1 ? text.length : close + 2
      blank(at, end)
      at = end
    } else if (language === 'python' && (text.startsWith('"""', at) || text.startsWith("'''", at))) {
      const close = text.indexOf(text.slice(at, at + 3), at + 3)
      const end = close === -1 ? text.length : close + 3
      blank(at, end)
      at = end
    } else if (char === '"' || char === "'") {
      const end = textEnd(text, at)
      blank(at + 1, end - 1)
      at = end
    } else if (slashes && char === '`') {
      at = template(at)
    } else if (slashes && char === '/' && startsPattern(text, at)) {
      const end = patternEnd(text, at)
      blank(at + 1, end - 1)
      at = end
    } else if (slashes && templates.length > 0 && (char === '{' || char === '}')) {
      const depth = (templates.pop() ?? 0) + (char === '{' ? 1 : -1)
      if (depth === 0) at = template(at)
      else {
        templates.push(depth)
        at++
      }
    } else at++
  }
  return out.join('')

  // From a backtick, or from the brace that ends a `${`, to the end of the template or to its next `${`.
  function template(start: number): number {
    let end = start + 1
    while (end < text.length && text[end] !== '`' && !text.startsWith('${', end)) end += text[end] === '\\' ? 2 : 1
    const stop = Math.min(end, text.length)
    blank(start + 1, stop)
    if (!text.startsWith('${', stop)) return stop + 1
    templates.push(1)
    return stop + 2
  }
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end
}

// A text of one line; one that is not closed ends with its line.
function textEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === text[start]) return at + 1
    else if (text[at] === '\n') return at
  }
  return text.length
}

// A slash divides after a value, and starts a regular expression anywhere else.
function startsPattern(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 60), at).trimEnd()
  return before === '' || /[(,=:[!&|?{};+*%<>~^-]$|\b(?:return|typeof|case|in|of|void|await|yield)$/.test(before)
}

/** Nobody writes longer ones; looking for the end of each in a file of slashes would take for ever. */
const longestPattern = 300

function patternEnd(text: string, start: number): number {
  let inClass = false
  const most = Math.min(text.length, start + longestPattern)
  for (let at = start + 1; at < most && text[at] !== '\n'; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '[') inClass = true
    else if (text[at] === ']') inClass = false
    else if (text[at] === '/' && !inClass) return at + 1
  }
  return start + 1
}
