// Equal for candidates that do the same for all that can be told by reading: layout, comments and local names do not count.
import { extname } from 'node:path'
import type { CandidateFiles, Knobs } from '../../../contracts/index.ts'
import { canonicalJson, hashOf } from '../../../kernel/index.ts'
import { localNames } from './local-names.ts'
import { type Language, tokenize } from './tokenize.ts'

const languages: Readonly<Record<string, Language>> = {
  '.js': 'javascript',
  '.mjs': 'javascript',
  '.cjs': 'javascript',
  '.ts': 'javascript',
  '.mts': 'javascript',
  '.cts': 'javascript',
  '.py': 'python',
}

/** What tells a candidate from others: its files as they mean, and its knobs. */
export function fingerprint(files: CandidateFiles, knobs: Knobs = {}): string {
  const meant = Object.fromEntries(Object.entries(files).map(([path, text]) => [path, normalised(path, text)]))
  return hashOf({ files: meant, knobs })
}

/** The text of a file without what has no meaning. */
export function normalised(path: string, text: string): string {
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
