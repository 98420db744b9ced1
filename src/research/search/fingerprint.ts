// Equal for candidates that do the same as far as reading shows: layout, comments and local names do not count.
import { extname } from 'node:path'
import type { CandidateFiles, Knobs } from '../../contracts/index.ts'
import { canonicalJson, hashOf } from '../../kernel/index.ts'
import { type Language, type Token, tokenize } from './tokenize.ts'

const languages: Readonly<Record<string, Language>> = {
  '.js': 'javascript',
  '.mjs': 'javascript',
  '.cjs': 'javascript',
  '.ts': 'javascript',
  '.mts': 'javascript',
  '.cts': 'javascript',
  '.py': 'python',
}

/** What distinguishes a candidate from others: its files as they mean, and its knobs. */
export function fingerprint(files: CandidateFiles, knobs: Knobs = {}): string {
  const meant = Object.fromEntries(Object.entries(files).map(([path, text]) => [path, normalised(path, text)]))
  return hashOf({ files: meant, knobs })
}

/** The text of a file without what has no meaning. */
function normalised(path: string, text: string): string {
  const extension = extname(path).toLowerCase()
  const language = languages[extension]
  if (language !== undefined) return normalisedCode(text, language)
  if (extension === '.json') return normalisedJson(text)
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  return lines
    .map((line) => line.trimEnd())
    .join('\n')
    .trimEnd()
}

function normalisedCode(text: string, language: Language): string {
  const tokens = tokenize(text, language)
  const local = localNames(tokens, language)
  const renamed = new Map<string, string>()
  const words = tokens.map(({ kind, text }) => {
    if (kind === 'break') return '\n'
    if (kind === 'deeper') return '{+'
    if (kind === 'back') return '-}'
    if (kind !== 'name' || !local.has(text)) return text
    const other = renamed.get(text) ?? `\u0000${renamed.size}`
    renamed.set(text, other)
    return other
  })
  return JSON.stringify(words)
}

function normalisedJson(text: string): string {
  try {
    return canonicalJson(JSON.parse(text))
  } catch {
    return text // not JSON: it differs from all that is
  }
}

// Which names of a program mean nothing outside it: those that it declares itself and that nothing reaches by their spelling. In
// doubt a name keeps it: a repeat that is missed costs one experiment, a new idea that is taken for a repeat is lost.
/** Names that may be renamed without changing what the program does. */
function localNames(tokens: readonly Token[], language: Language): Set<string> {
  const names = language === 'python' ? declaredInPython(tokens) : declaredInScript(tokens)
  for (const spelled of spelledNames(tokens, language)) names.delete(spelled)
  for (const name of names) if (/^[A-Z][A-Z\d_]*$|^__|^[#@]/.test(name)) names.delete(name) // knobs are found by such names
  return names
}

const separators = new Set(['(', ',', '...', '*', '**'])

// Properties, keys, named arguments, and every word inside a string.
function spelledNames(tokens: readonly Token[], language: Language): Set<string> {
  const spelled = new Set<string>()
  for (const [i, { kind, text, inside }] of tokens.entries()) {
    if (kind === 'string') for (const [word] of text.matchAll(/[\p{L}_$][\p{L}\p{Nd}_$]*/gu)) spelled.add(word)
    if (kind !== 'name') continue
    const before = tokens[i - 1]?.text ?? ''
    const after = tokens[i + 1]?.text ?? ''
    const isProperty = before === '.' || before === '?.'
    const isNamedArgument = language === 'python' && inside === '(' && after === '='
    const isKey =
      language === 'javascript' && inside === '{' && isMemberPlace(tokens[i - 1]) && /^[,}:=(?]$/.test(after)
    if (isProperty || isNamedArgument || isKey) spelled.add(text)
  }
  return spelled
}

function isMemberPlace(before: Token | undefined): boolean {
  return (
    before === undefined ||
    /^(?:\{|\}|,|;|static|async|get|set|\*|readonly|private|public|protected)$/.test(before.text)
  )
}

function declaredInScript(tokens: readonly Token[]): Set<string> {
  const names = new Set<string>()
  const closes = closings(tokens)
  for (const [i, { kind, text }] of tokens.entries()) {
    const next = tokens[i + 1]
    if (kind === 'name' && /^(?:let|const|var|function|class)$/.test(text)) {
      if (next?.kind === 'name' && !isExported(tokens, i)) names.add(next.text)
    }
    if (kind === 'name' && next?.text === '=>') names.add(text)
    if (text === '(' && kind === 'mark') {
      const end = closes[i] ?? tokens.length
      const before = tokens[i - 1]
      const isFunction = before?.text === 'function' || tokens[i - 2]?.text === 'function' || before?.text === 'catch'
      if (isFunction || tokens[end + 1]?.text === '=>') addParameters(names, tokens, i, end)
    }
  }
  return names
}

function isExported(tokens: readonly Token[], i: number): boolean {
  return [1, 2, 3].some((back) => tokens[i - back]?.text === 'export')
}

function declaredInPython(tokens: readonly Token[]): Set<string> {
  const names = new Set<string>()
  const closes = closings(tokens)
  let start = 0
  for (const [i, { kind, text, inside }] of tokens.entries()) {
    if (kind === 'break' || kind === 'deeper' || kind === 'back') start = i + 1
    else if (text === '=' && kind === 'mark' && inside === '') {
      const targets = tokens.slice(start, i)
      start = i + 1
      const areTargets = targets.every(({ kind, text }) => kind === 'name' || /^[,()*]$/.test(text))
      if (areTargets) for (const { kind, text } of targets) if (kind === 'name') names.add(text)
    } else if (text === 'for' && kind === 'name') {
      for (let j = i + 1; j < tokens.length && tokens[j]?.text !== 'in'; j++) {
        const target = tokens[j]
        if (target?.kind === 'name') names.add(target.text)
        else if (target === undefined || !/^[,()*]$/.test(target.text)) break
      }
    } else if (text === 'def' && kind === 'name' && tokens[i + 2]?.text === '(') {
      addParameters(names, tokens, i + 2, closes[i + 2] ?? tokens.length)
    }
  }
  for (const word of pythonWords) names.delete(word)
  return names
}

const pythonWords = 'self cls in is not and or if else lambda await async None True False'.split(' ')

/** A list of parameters that is longer is no list of parameters. */
const longestList = 2000

function addParameters(names: Set<string>, tokens: readonly Token[], from: number, to: number): void {
  let depth = 0
  for (let i = from; i < Math.min(to, from + longestList); i++) {
    const { kind, text } = tokens[i] as Token // i is inside
    if (kind === 'mark' && /^[([{]$/.test(text)) depth++
    else if (kind === 'mark' && /^[)\]}]$/.test(text)) depth--
    else if (kind === 'name' && depth === 1 && separators.has(tokens[i - 1]?.text ?? '')) names.add(text)
  }
}

// Where each bracket closes, by the place where it opens.
function closings(tokens: readonly Token[]): (number | undefined)[] {
  const closes: (number | undefined)[] = []
  const open: number[] = []
  for (const [i, { kind, text }] of tokens.entries()) {
    if (kind !== 'mark') continue
    if (/^[([{]$/.test(text)) open.push(i)
    else if (/^[)\]}]$/.test(text)) {
      const from = open.pop()
      if (from !== undefined) closes[from] = i
    }
  }
  return closes
}
