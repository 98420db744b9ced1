// YAML text to a located tree of JSON values. The text may be anything: it can be too large, too deep, a bomb of aliases, or no
// YAML at all, and each of these is a problem with a place, never an exception.
import { Composer, type CST, type Document, Lexer, type ParsedNode, Parser } from 'yaml'
import { buildTree, type Hook } from './build-tree.ts'
import type { LocatedNode } from './located.ts'
import type { Report } from './report.ts'
import type { Source } from './source.ts'
import { reportSyntax } from './syntax-problems.ts'

/** Characters of text that are read; what people write by hand is a thousandth of it. */
export const maxLength = 4_000_000

/** Levels of nesting. The composer of `yaml` recurses, and a deep enough document ends the process, not just the parse. */
export const maxDepth = 200

// Of the raw text: YAML allows tab, line breaks and printable characters.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const forbidden = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]|\p{Cs}/u

/** The part of a source to parse, and how its value hangs in a tree; absent: all of it, as a root. */
export interface Part {
  readonly start: number
  readonly end: number
  readonly hook?: Hook
}

/** The tree of a YAML text, or undefined when the report says what is wrong. An empty text is `null`. */
export function parseYaml(source: Source, report: Report, part?: Part): LocatedNode | undefined {
  report.addSource(source)
  const start = part?.start ?? 0
  const text = source.text.slice(start, part?.end)
  const complain = (offset: number, length: number, message: string, fix: string) =>
    report.problemAt(
      { source, start: start + offset, end: start + offset + length },
      { code: 'CONFIG_SYNTAX', message, fix },
    )
  if (text.length > maxLength) {
    complain(
      0,
      1,
      `the text is ${text.length} characters long, more than ${maxLength}`,
      'put data rows into a file of their own.',
    )
    return undefined
  }
  const bad = forbidden.exec(text)
  if (bad !== null) {
    const code = (bad[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    complain(bad.index, bad[0].length, `the text holds a character that YAML does not allow (U+${code})`, 'remove it.')
    return undefined
  }
  const tokens: CST.Token[] = []
  const tooDeep = tokenise(text, tokens)
  if (tooDeep !== undefined) {
    complain(tooDeep, 1, `nested more than ${maxDepth} levels deep`, 'flatten the value, or put it into a data file.')
    return undefined
  }
  const documents = [...compose(tokens, text.length)]
  if (reportSyntax(documents, tokens, { source, start, text }, report)) return undefined
  return buildTree(documents[0]?.contents, { source, shift: start, text, hook: part?.hook ?? {} }, report)
}

// Drives the parser by hand to see how deep it is: `[[[[...` is stopped before anything recurses over it.
function tokenise(text: string, tokens: CST.Token[]): number | undefined {
  const parser = new Parser()
  for (const lexeme of new Lexer().lex(text)) {
    const { offset } = parser
    for (const token of parser.next(lexeme)) tokens.push(token)
    if (parser.stack.length > maxDepth) return Math.min(offset, text.length - 1)
  }
  for (const token of parser.end()) tokens.push(token)
  return undefined
}

function compose(tokens: readonly CST.Token[], length: number): Generator<Document.Parsed<ParsedNode>> {
  // Duplicate keys and merge keys are handled in buildTree: it knows where both keys are, and takes linear time.
  const composer = new Composer<ParsedNode>({
    uniqueKeys: false,
    merge: false,
    resolveKnownTags: false,
    version: '1.2',
  })
  return composer.compose(tokens, true, length)
}
