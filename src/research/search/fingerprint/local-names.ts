// Which names of a program mean nothing outside it: those that it declares itself and that nobody reaches by their spelling. In
// doubt a name keeps it: a repeat that is missed costs one experiment, a new idea that is taken for a repeat is lost.
import type { Language, Token } from './tokenize.ts'

/** Names that may be renamed without changing what the program does. */
export function localNames(tokens: readonly Token[], language: Language): Set<string> {
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
  for (const [i, { kind, text }] of tokens.entries()) {
    const next = tokens[i + 1]
    if (kind === 'name' && /^(?:let|const|var|function|class)$/.test(text)) {
      if (next?.kind === 'name' && !isExported(tokens, i)) names.add(next.text)
    }
    if (kind === 'name' && next?.text === '=>') names.add(text)
    if (text === '(' && kind === 'mark') {
      const end = closing(tokens, i)
      const before = tokens[i - 1]
      const isFunction = before?.text === 'function' || tokens[i - 2]?.text === 'function' || before?.text === 'catch'
      if (isFunction || tokens[end + 1]?.text === '=>') addParameters(names, tokens.slice(i, end))
    }
  }
  return names
}

function isExported(tokens: readonly Token[], i: number): boolean {
  return [1, 2, 3].some((back) => tokens[i - back]?.text === 'export')
}

function declaredInPython(tokens: readonly Token[]): Set<string> {
  const names = new Set<string>()
  let start = 0
  for (const [i, { kind, text }] of tokens.entries()) {
    if (kind === 'break' || kind === 'deeper' || kind === 'back') start = i + 1
    else if (text === '=' && kind === 'mark') {
      const targets = tokens.slice(start, i)
      const areTargets = targets.every(({ kind, text }) => kind === 'name' || /^[,()*]$/.test(text))
      if (areTargets) for (const { kind, text } of targets) if (kind === 'name') names.add(text)
    } else if (text === 'for' && kind === 'name') {
      for (let j = i + 1; j < tokens.length && tokens[j]?.text !== 'in'; j++) {
        const target = tokens[j]
        if (target?.kind === 'name') names.add(target.text)
        else if (target === undefined || !/^[,()*]$/.test(target.text)) break
      }
    } else if (text === 'def' && kind === 'name' && tokens[i + 2]?.text === '(') {
      addParameters(names, tokens.slice(i + 2, closing(tokens, i + 2)))
    }
  }
  for (const word of pythonWords) names.delete(word)
  return names
}

const pythonWords = [
  'self',
  'cls',
  'in',
  'is',
  'not',
  'and',
  'or',
  'if',
  'else',
  'lambda',
  'await',
  'async',
  'None',
  'True',
  'False',
]

function addParameters(names: Set<string>, list: readonly Token[]): void {
  const inside = list[1]?.inside
  for (const [j, token] of list.entries()) {
    if (token.kind !== 'name' || token.inside !== inside || inside !== '(') continue
    if (separators.has(list[j - 1]?.text ?? '')) names.add(token.text)
  }
}

function closing(tokens: readonly Token[], from: number): number {
  let depth = 0
  for (let i = from; i < tokens.length; i++) {
    const { kind, text } = tokens[i] as Token // i is inside
    if (kind !== 'mark') continue
    if (/^[([{]$/.test(text)) depth++
    else if (/^[)\]}]$/.test(text) && --depth === 0) return i
  }
  return tokens.length
}
