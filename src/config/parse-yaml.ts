// YAML text to a located tree of JSON values. The text may be anything: it can be too large, too deep, a bomb of aliases, or no
// YAML at all, and each of these is a problem with a place, never an exception.
import {
  type Alias,
  Composer,
  type CST,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  type Pair,
  type ParsedNode,
  Parser,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import type { ErrorCode } from '../contracts/index.ts'
import {
  type Json,
  type LocatedEntry,
  type LocatedNode,
  mapNode,
  type Origin,
  type Source,
  type Step,
  scalarNode,
  seqNode,
} from './located.ts'
import { placeName, type Report } from './report.ts'
import { type ParsedText, reportSyntax } from './syntax-problems.ts'

/** Characters of text that are read; what people write by hand is a thousandth of it. */
export const maxLength = 4_000_000

/** Words and signs in it, each of which takes a kilobyte while it is parsed. */
const maxTokens = 300_000

/** Levels of nesting. The composer of `yaml` recurses, and a deep enough document ends the process, not just the parse. */
export const maxDepth = 200

// Of the raw text: YAML allows tab, line breaks and printable characters.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const forbidden = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]|\p{Cs}/u

/** The part of a source to parse, and how its value hangs in a tree; absent: all of it, as a root. */
interface Part {
  readonly start: number
  readonly end: number
  readonly hook?: Hook | undefined
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
    const message = `the text is ${text.length} characters long, more than ${maxLength}`
    return complain(0, 1, message, 'put data rows into a separate file.')
  }
  const bad = forbidden.exec(text)
  if (bad !== null) {
    const code = (bad[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    const message = `the text holds a character that YAML does not allow (U+${code})`
    return complain(bad.index, bad[0].length, message, 'remove it.')
  }
  const tokens: CST.Token[] = []
  const beyond = tokenise(text, tokens)
  if (beyond !== undefined) {
    const fix = 'flatten the value, or put it into a data file.'
    return complain(beyond.at, 1, beyond.message, fix)
  }
  // Duplicate keys and merge keys are handled in TreeBuilder: it knows where both keys are, and takes linear time.
  const options = { uniqueKeys: false, merge: false, resolveKnownTags: false, version: '1.2' } as const
  const documents = [...new Composer<ParsedNode>(options).compose(tokens, true, text.length)]
  if (reportSyntax(documents, tokens, { source, start, text }, report)) return undefined
  const builder = new TreeBuilder({ source, start, text }, report)
  const tree = builder.build(documents[0]?.contents, part?.hook ?? {})
  return builder.isFaulty ? undefined : tree
}

// Drives the parser by hand to see how deep it is: `[[[[...` is stopped before anything recurses over it.
function tokenise(text: string, tokens: CST.Token[]): { at: number; message: string } | undefined {
  const parser = new Parser()
  let count = 0
  for (const lexeme of new Lexer().lex(text)) {
    const { offset } = parser
    for (const token of parser.next(lexeme)) tokens.push(token)
    const at = Math.min(offset, text.length - 1)
    if (parser.stack.length > maxDepth) return { at, message: `nested more than ${maxDepth} levels deep` }
    if (++count > maxTokens) return { at, message: `the text has more than ${maxTokens} words and signs` }
  }
  for (const token of parser.end()) tokens.push(token)
  return undefined
}

/** Values that a document may hold once its aliases are followed. */
export const maxExpanded = 1_000_000

interface Hook {
  readonly parent?: Origin | undefined
  readonly step?: Step | undefined
  readonly key?: { readonly start: number; readonly end: number } | undefined
}

// From the nodes of the YAML parser to the located tree: aliases and merge keys are followed, keys become text, and values are
// those that JSON can hold. Duplicate keys, unknown aliases and bombs of aliases are found here.
class TreeBuilder {
  isFaulty = false
  readonly #input: ParsedText
  readonly #report: Report
  /** `size` is the number of values in it, aliases followed. */
  readonly #anchors = new Map<string, { node: LocatedNode; size: number }>()
  readonly #open = new Set<string>()
  #size = 0

  constructor(input: ParsedText, report: Report) {
    this.#input = input
    this.#report = report
  }

  build(node: unknown, hook: Hook): LocatedNode {
    if (isAlias(node)) return this.#alias(node, hook)
    const anchor = isCollection(node) || isScalar(node) ? node.anchor : undefined
    const before = this.#size
    this.#size += 1
    if (anchor !== undefined) this.#open.add(anchor)
    const built = this.#content(node, hook)
    if (anchor !== undefined) {
      this.#open.delete(anchor)
      this.#anchors.set(anchor, { node: built, size: this.#size - before })
    }
    return built
  }

  #content(node: unknown, hook: Hook): LocatedNode {
    if (isMap(node)) return this.#map(node, hook)
    if (isSeq(node)) return this.#seq(node, hook)
    if (isScalar(node)) return this.#scalar(node, hook)
    // `{ a }` and `? a`: a key without any value; or an empty text.
    const at = hook.key?.end ?? this.#input.start
    return scalarNode(null, { source: this.#input.source, start: at, end: at, ...hook })
  }

  #alias(node: Alias, hook: Hook): LocatedNode {
    const origin = this.#origin(node.range, hook)
    const known = this.#anchors.get(node.source)
    if (this.#open.has(node.source)) {
      return this.#fault(origin, `*${node.source} stands inside &${node.source} itself`, 'write the value out.')
    }
    if (known === undefined) {
      const names = [...this.#anchors.keys()].map((name) => `&${name}`).join(', ')
      const fix = names === '' ? 'put text that starts with * in quotes.' : `anchors before this place: ${names}.`
      return this.#fault(origin, `no anchor &${node.source} is defined before this alias`, fix)
    }
    const wasWithin = this.#size <= maxExpanded
    this.#size += known.size
    if (this.#size > maxExpanded && wasWithin) {
      this.#fault(origin, `aliases expand to more than ${maxExpanded} values`, 'write the values out.')
    }
    return known.node
  }

  #seq(node: YAMLSeq, hook: Hook): LocatedNode {
    const origin = this.#origin(node.range, hook, !node.flow)
    return seqNode(
      node.items.map((item, step) => this.build(item, { parent: origin, step })),
      origin,
    )
  }

  #map(node: YAMLMap, hook: Hook): LocatedNode {
    const origin = this.#origin(node.range, hook, !node.flow)
    const entries = new Map<string, LocatedEntry>()
    const merged: LocatedNode[] = []
    for (const pair of node.items) {
      const entry = this.#entry(pair, origin)
      if (entry === undefined) continue
      const first = entries.get(entry.key)
      if (isMergeKey(pair)) merged.push(entry.value)
      else if (first === undefined) entries.set(entry.key, entry)
      else {
        const message = `${JSON.stringify(entry.key)} is given twice; the first is at ${placeName(first.at)}`
        this.#fault(entry.at, message, 'keep one of them.')
      }
    }
    for (const each of merged) this.#merge(entries, each)
    return mapNode(entries.values(), origin)
  }

  #entry(pair: Pair, parent: Origin): LocatedEntry | undefined {
    const { key } = pair
    const at = keyOrigin(key, this.#input, parent)
    if (!isScalar(key) || typeof at.step !== 'string') {
      const isComplex = isCollection(key) || isAlias(key)
      this.#fault(at, isComplex ? 'a key must be text' : 'a key is missing before the colon', 'write `key: value`.')
      return undefined
    }
    if (at.step === '__proto__') {
      this.#fault(at, '"__proto__" cannot be a key', 'choose another name.')
      return undefined
    }
    const value = this.build(pair.value, { parent, step: at.step, key: { start: at.start, end: at.end } })
    return { key: at.step, at, value }
  }

  // https://yaml.org/type/merge.html: keys of the mapping itself win, then those of earlier sources.
  #merge(entries: Map<string, LocatedEntry>, from: LocatedNode): void {
    if (from.type === 'seq') for (const item of from.items) this.#merge(entries, item)
    else if (from.type === 'map') {
      const wasWithin = this.#size <= maxExpanded
      this.#size += from.entries.size
      if (this.#size <= maxExpanded) {
        for (const entry of from.entries.values()) if (!entries.has(entry.key)) entries.set(entry.key, entry)
      } else if (wasWithin) {
        this.#fault(from.origin, `merge keys expand to more than ${maxExpanded} values`, 'write the values out.')
      }
    } else
      this.#fault(from.origin, '<< takes a mapping or a list of mappings', 'name an anchor of a mapping: `<<: *name`.')
  }

  #scalar(node: Scalar, hook: Hook): LocatedNode {
    const origin = this.#origin(node.range, hook)
    const { value } = node
    const problem = scalarProblem(value, node.source)
    if (problem !== undefined) return this.#fault(origin, problem.message, problem.fix, 'CONFIG_INVALID')
    return scalarNode(value as Json, origin) // scalarProblem has refused everything else
  }

  #origin(range: readonly number[] | null | undefined, hook: Hook, isBlock = false): Origin {
    const { source, start: shift, text } = this.#input
    const start = range?.[0] ?? 0
    let end = range?.[1] ?? start
    while (end > start && /\s/.test(text[end - 1] ?? '')) end -= 1 // a block's range reaches to the line break after it
    return { source, start: shift + start, end: shift + end, isBlock: isBlock || undefined, ...hook }
  }

  #fault(origin: Origin, message: string, fix: string, code: ErrorCode = 'CONFIG_SYNTAX'): LocatedNode {
    this.#report.problem(origin, { code, message, fix })
    this.isFaulty = true
    return scalarNode(null, origin)
  }
}

function isMergeKey({ key }: Pair): boolean {
  return isScalar(key) && key.value === '<<' && key.type === 'PLAIN'
}

// A plain key is the text that stands there: `1: x` and `true: x` have the keys "1" and "true".
function keyOrigin(key: unknown, { source, start: shift }: ParsedText, parent: Origin): Origin {
  const range = isNode(key) ? key.range : undefined
  const start = range ? shift + range[0] : parent.start
  const end = range ? shift + range[1] : parent.start
  const text = isScalar(key) ? (typeof key.value === 'string' ? key.value : key.source) : undefined
  return { source, start, end, parent, step: text === '' && start === end ? undefined : text }
}

function scalarProblem(value: unknown, written: string | undefined): { message: string; fix: string } | undefined {
  if (typeof value === 'string') return surrogateProblem(value)
  if (typeof value === 'boolean' || value === null) return undefined
  if (typeof value !== 'number')
    return { message: 'the value is no JSON value', fix: 'write text, a number, true, false or null.' }
  if (!Number.isFinite(value))
    return { message: `${written} is not a finite number`, fix: 'write a finite number, or quote the text.' }
  if (isInexact(value, written ?? '')) {
    const fix = 'quote it if it is an id, or write it as 1.5e20.'
    return { message: `${written} is too large to be kept exactly`, fix }
  }
  return undefined
}

// Digits that no number has; those that a number prints are fine, even where it stands for others too.
function isInexact(value: number, written: string): boolean {
  if (Number.isSafeInteger(value) || !/^[-+]?\d+$/.test(written)) return false
  return String(value) !== written && BigInt(written) !== BigInt(value)
}

/** Half of a character, from a `\uD800` escape, cannot be stored as UTF-8. */
export function surrogateProblem(text: string): { message: string; fix: string } | undefined {
  if (!/\p{Cs}/u.test(text)) return undefined
  return {
    message: 'the text holds half of a character (a lone surrogate)',
    fix: 'write both halves of the \\u pair, or neither.',
  }
}
