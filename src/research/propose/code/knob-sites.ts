// Where the knobs of a candidate stand in its code: literals with a name that is written in capitals, or that the task declares.
import type { CandidateFiles, KnobValue } from '../../../contracts/index.ts'

/** A literal with a name. */
export interface KnobSite {
  readonly name: string
  readonly value: KnobValue
  readonly file: string
  /** Of the literal, in characters of its file. */
  readonly start: number
  readonly end: number
  readonly language: Language
}

const number = String.raw`[+-]?(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?`
const literal = String.raw`(?<literal>${number}(?:\s*\*{1,2}\s*${number})*|true|false|True|False|"[^"\n]*"|'[^'\n]*')`
const annotation = String.raw`(?:\s*:\s*[\w.$[\]| ]+)?`
const lineEnds = String.raw`(?=[ \t]*(?:;|\r?$))`
const capitals = '[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*'

const patterns: Readonly<Record<Language, (name: string, isDeclared: boolean) => RegExp>> = {
  // A property has its colon at once: in `a ? NAME : 0` it is none.
  javascript: (name, isDeclared) =>
    isDeclared
      ? new RegExp(
          String.raw`(?:(?<![\w$.])(?<name>${name})${annotation}\s*=|(?<=(?:^|[{,])\s*)(?<key>${name}):)\s*${literal}(?=\s*(?:[;,})]|\r?$))`,
          'gm',
        )
      : new RegExp(
          String.raw`^(?:export\s+)?(?:const|let|var)\s+(?<name>${name})${annotation}\s*=\s*${literal}${lineEnds}`,
          'gm',
        ),
  python: (name, isDeclared) =>
    isDeclared
      ? new RegExp(String.raw`(?<![\w.])(?<name>${name})${annotation}\s*=\s*${literal}(?=[ \t]*(?:[;,)]|\r?$))`, 'gm')
      : new RegExp(String.raw`^(?<name>${name})${annotation}\s*=\s*${literal}${lineEnds}`, 'gm'),
  json: (name) => new RegExp(String.raw`"(?<name>${name})"\s*:\s*${literal}(?=\s*[,}])`, 'gm'),
  yaml: (name) => new RegExp(String.raw`^(?<name>${name})\s*:[ \t]+${literal}(?=[ \t]*\r?$)`, 'gm'),
}

/** Every place of every knob, in the order of files and text. A name may stand in several. */
export function knobSites(files: CandidateFiles, declared: readonly string[] = []): KnobSite[] {
  return Object.entries(files)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([file, text]) => sitesIn(file, text, declared))
}

function sitesIn(file: string, text: string, declared: readonly string[]): KnobSite[] {
  const language = languageOf(file)
  if (language === undefined) return []
  // Keys and values of data are texts themselves.
  const masked = language === 'json' ? text : maskCode(text, language)
  const found = new Map<number, KnobSite>()
  const look = (pattern: RegExp) => {
    for (const match of masked.matchAll(pattern)) {
      const { key = '', name = key, literal: written = '' } = match.groups ?? {}
      const start = match.index + match[0].length - written.length
      const value = literalValue(text.slice(start, start + written.length))
      if (value !== undefined) found.set(start, { name, value, file, start, end: start + written.length, language })
    }
  }
  look(patterns[language](capitals, false))
  // A constant at the start of a line is the place of its name, whatever else looks like one.
  const placed = new Set([...found.values()].map(({ name }) => name))
  for (const name of declared) if (!placed.has(name)) look(patterns[language](escaped(name), true))
  return [...found.values()].sort((a, b) => a.start - b.start)
}

/** What a literal is worth; undefined: it is not understood. */
function literalValue(written: string): KnobValue | undefined {
  if (/^true$/i.test(written)) return true
  if (/^false$/i.test(written)) return false
  const quote = written[0]
  if (quote === '"' || quote === "'") {
    const inside = written.slice(1, -1)
    return /[\\]/.test(inside) ? undefined : inside
  }
  const value = product(written.replaceAll('_', ''))
  return Number.isFinite(value) ? value : undefined
}

// Products of powers: 2 ** 14, 64 * 1024. Powers bind from the right.
function product(written: string): number {
  return written
    .split(/(?<!\*)\*(?!\*)/)
    .map((factor) =>
      factor
        .split('**')
        .map((each) => Number(each.trim()))
        .reduceRight((exponent, base) => base ** exponent),
    )
    .reduce((a, b) => a * b)
}

function escaped(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}

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

/** No one writes longer ones; looking for the end of each in a file of slashes would take for ever. */
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
