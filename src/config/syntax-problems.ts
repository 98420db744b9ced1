// What the YAML parser found, in plain words and at the place where the mistake was made. The parser notices an unclosed quote
// or a line indented too far only later; a reader wants the line that has to be changed.
import { type CST, type Document, isCollection, isMap, isPair, isScalar, type ParsedNode, type YAMLError } from 'yaml'
import { positionOf, type Source } from './located.ts'
import type { Report } from './report.ts'

/** The text that was parsed, and where it starts in its source. */
export interface ParsedText {
  readonly source: Source
  readonly start: number
  readonly text: string
}

interface Finding {
  start: number
  end: number
  message: string
  fix: string
}

/** After so many the first ones have to be mended anyway. */
const most = 20

/** Reports everything that is not YAML, or YAML that we do not read; true when there was something. */
export function reportSyntax(
  documents: readonly Document.Parsed<ParsedNode>[],
  tokens: readonly CST.Token[],
  parsed: ParsedText,
  report: Report,
): boolean {
  const findings = [
    ...tokens.flatMap(directiveFinding),
    ...documents.slice(1, 2).map(({ range }) => secondDocument(range[0])),
    ...documents.slice(0, 1).flatMap((document) => documentFindings(document, parsed.text)),
  ]
  const lines = new Set<number>()
  for (const { start, end, message, fix } of findings) {
    if (lines.size === most) break
    const at = parsed.start + visibleFrom(parsed.text, start)
    const { line } = positionOf(parsed.source, at)
    if (lines.has(line)) continue // the rest of a line follows from its first mistake
    lines.add(line)
    const span = { source: parsed.source, start: at, end: Math.max(at + 1, parsed.start + end) }
    report.problemAt(span, { code: 'CONFIG_SYNTAX', message, fix })
  }
  return findings.length > 0
}

// Indentation is blamed from the start of its line; the caret belongs under the text.
function visibleFrom(text: string, start: number): number {
  const inside = Math.max(0, Math.min(start, text.length - 1))
  const blank = /^ +(?=\S)/.exec(text.slice(inside, inside + 1_000))?.[0].length ?? 0
  return inside + blank
}

function directiveFinding(token: CST.Token): Finding[] {
  if (token.type !== 'directive' || /^%YAML[ \t]+1\.2[ \t]*$/.test(token.source)) return []
  const message = `the directive ${JSON.stringify(token.source)} is not supported`
  return [
    {
      start: token.offset,
      end: token.offset + token.source.length,
      message,
      fix: 'remove it: files are read as YAML 1.2.',
    },
  ]
}

function secondDocument(start: number): Finding {
  const fix = 'keep one document in a file: remove the `---` line and what follows it.'
  return { start, end: start + 3, message: 'a second document starts here', fix }
}

function documentFindings(document: Document.Parsed<ParsedNode>, text: string): Finding[] {
  // Of the warnings only unknown tags matter: they would silently turn into plain values.
  const faults = [...document.errors, ...document.warnings.filter(({ code }) => code === 'TAG_RESOLVE_FAILED')]
  if (faults.length === 0) return []
  const nodes = delimited(document.contents, text)
  // Innermost first: what is open around an open quote is open because of it.
  const unclosed = nodes
    .filter((node) => !node.isClosed)
    .map(unclosedFinding)
    .reverse()
  const others = faults.filter((fault) => !isAboutEnd(fault)).map((fault) => findingOf(fault, nodes, text))
  const findings = [...unclosed, ...others]
  return findings.length > 0 ? findings : faults.map((fault) => findingOf(fault, nodes, text))
}

/** A quoted text or a bracketed collection. */
interface Delimited {
  start: number
  end: number
  opening: string
  isClosed: boolean
  isQuote: boolean
}

function delimited(contents: ParsedNode | null, text: string): Delimited[] {
  const found: Delimited[] = []
  const stack: unknown[] = [contents]
  while (stack.length > 0) {
    const node = stack.pop()
    if (isPair(node)) stack.push(node.value, node.key)
    else if (isCollection(node)) {
      if (node.flow && node.range) found.push(bracketed(node.range, isMap(node) ? '{' : '[', text))
      stack.push(...node.items.toReversed())
    } else if (isScalar(node) && node.range && (node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE')) {
      found.push(quoted(node.range, text))
    }
  }
  return found
}

type NodeRange = readonly [number, number, number]

// A pair in a flow list, `[a: 1]`, is a mapping without brackets.
function bracketed([start, end]: NodeRange, opening: '{' | '[', text: string): Delimited {
  const closing = opening === '{' ? '}' : ']'
  const isClosed = text[start] !== opening || (end - start > 1 && text[end - 1] === closing)
  return { start, end, opening, isClosed, isQuote: false }
}

function quoted([start, end]: NodeRange, text: string): Delimited {
  const opening = text[start] ?? '"'
  const body = text.slice(start + 1, end)
  const isEscaped = opening === '"' && /(?:^|[^\\])(?:\\\\)*\\"$/.test(body)
  return { start, end, opening, isClosed: body.endsWith(opening) && !isEscaped, isQuote: true }
}

function unclosedFinding({ start, opening }: Delimited): Finding {
  const what = opening === '"' || opening === "'" ? 'quote' : 'bracket'
  const closing = opening === '{' ? '}' : opening === '[' ? ']' : opening
  return { start, end: start + 1, message: `this ${what} is never closed`, fix: `add the closing ${closing}` }
}

function isAboutEnd({ code, message }: YAMLError): boolean {
  return (code === 'MISSING_CHAR' && /closing|end with a/.test(message)) || /must .*end with a/.test(message)
}

function findingOf(fault: YAMLError, nodes: readonly Delimited[], text: string): Finding {
  const [start, end] = fault.pos
  const words = wordsOf(fault, text.slice(start, end))
  if (fault.code === 'MULTILINE_IMPLICIT_KEY' || fault.code === 'BLOCK_AS_IMPLICIT_KEY') {
    return keyFinding(fault, nodes, text)
  }
  // A quote that was closed too late ends right before the text that then makes no sense.
  const late = nodes.findLast(
    (node) =>
      node.isQuote && node.end <= start && isSameLine(text, node.end, start) && !isSameLine(text, node.start, node.end),
  )
  if (late !== undefined) {
    const message = 'this quote is closed only on another line'
    return { start: late.start, end: late.start + 1, message, fix: `add the closing ${late.opening} on this line.` }
  }
  return { start, end, ...words }
}

// `a: 1` followed by a deeper `b: 2` is read as one key over two lines: the second line is wrong. Where such a key starts its
// line, a colon is missing there: the first line is wrong.
function keyFinding(fault: YAMLError, nodes: readonly Delimited[], text: string): Finding {
  const [start, end] = fault.pos
  const quote = nodes.find((node) => node.isQuote && node.start === start && !isSameLine(text, node.start, node.end))
  if (quote !== undefined) {
    const message = 'this quote is closed only on another line'
    return { start, end: start + 1, message, fix: `add the closing ${quote.opening} on this line.` }
  }
  const key = multilineKey(text, start, end)
  if (key === undefined) {
    const fix = 'put text that holds ": " in quotes, or start the nested mapping on a separate line.'
    return { start, end, message: 'a mapping cannot start here', fix }
  }
  if (startsLine(text, start)) {
    const fix = 'write `key: value`, with a space after the colon.'
    return { start, end: key.firstLineEnd, message: 'a colon is missing on this line', fix }
  }
  const fix = 'indent the line like the one above it.'
  return { start: key.lastLine, end, message: 'this line is indented too far', fix }
}

// The composer gives the start of a block that it read as a key; the key continues to the next line that holds a colon.
function multilineKey(
  text: string,
  start: number,
  end: number,
): { firstLineEnd: number; lastLine: number } | undefined {
  const newline = text.indexOf('\n', start)
  const firstLine = text.slice(start, newline === -1 ? undefined : newline)
  if (newline === -1 || (end <= newline && /:(?:\s|$)/.test(firstLine))) return undefined
  const stop = Math.max(end, newline + 1)
  const lastBreak = text.lastIndexOf('\n', stop - 1)
  const lastStart = Math.max(newline, lastBreak) + 1
  return { firstLineEnd: newline, lastLine: lastStart + (/^[ \t]*/.exec(text.slice(lastStart))?.[0].length ?? 0) }
}

function startsLine(text: string, offset: number): boolean {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1
  return /^[ \t]*(?:- +)*$/.test(text.slice(lineStart, offset))
}

function isSameLine(text: string, a: number, b: number): boolean {
  return !text.slice(a, b).includes('\n')
}

function wordsOf({ code, message }: YAMLError, found: string): { message: string; fix: string } {
  switch (code) {
    case 'TAB_AS_INDENT':
      return { message: 'a tab stands where spaces must indent', fix: 'indent with spaces.' }
    case 'TAG_RESOLVE_FAILED':
      return {
        message: `the tag ${JSON.stringify(found)} is not supported`,
        fix: 'remove it, and quote the value if it is text.',
      }
    case 'BAD_INDENT':
      return { message: lowered(message), fix: 'indent the line like its neighbours, with spaces.' }
    case 'BAD_SCALAR_START':
      return { message: lowered(message), fix: 'put the value in quotes.' }
    case 'BAD_DQ_ESCAPE':
      return { message: lowered(message), fix: 'write `\\\\` for a backslash, or use single quotes.' }
    case 'MISSING_CHAR':
      return /Implicit map keys/.test(message)
        ? { message: 'a colon is missing on this line', fix: 'write `key: value`, with a space after the colon.' }
        : { message: lowered(message), fix: 'add what is missing, or put the text in quotes.' }
    case 'UNEXPECTED_TOKEN':
      return {
        message: `${JSON.stringify(found)} was not expected here`,
        fix: 'check quotes, brackets and indentation, here and on the line above.',
      }
    default:
      return { message: lowered(message), fix: 'correct the text here, or on the line above.' }
  }
}

function lowered(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1)
}
