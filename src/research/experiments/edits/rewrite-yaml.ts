// A YAML text made to say something else: only what differs is written anew, so that comments, order and layout of all the rest stay
// byte for byte. It knows nothing of experiments. What it gives is read again and compared, so a text never says what was not asked for.
import { isDeepStrictEqual } from 'node:util'
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { yamlValue } from '../../../config/index.ts'
import { EvsysError, isMapping } from '../../../kernel/index.ts'
import { alignItems } from './align-items.ts'
import {
  behindKey,
  flowPair,
  flowText,
  isMerge,
  isPairLike,
  isPlainValue,
  itemText,
  keyOf,
  keyText,
  type Splice,
  splicedText,
} from './yaml-text.ts'

type Json = unknown
type Mapping = Readonly<Record<string, Json>>

/** `text`, saying `value`. Equal values leave the text as it is. Aliases and merge keys are written out once anything else changes. */
export function rewriteYaml(text: string, wanted: Mapping): string {
  const value: Mapping = JSON.parse(JSON.stringify(wanted)) // as it is read again: without what is undefined
  if (isDeepStrictEqual(yamlValue(text, 'text'), value)) return text
  const document = parseDocument(text, { uniqueKeys: false, merge: false, resolveKnownTags: false, version: '1.2' })
  const rewriter = new Rewriter(text, document)
  const rewritten = rewriter.rewrite(value)
  if (isDeepStrictEqual(saidBy(rewritten), value)) return rewritten
  // A layout that cannot be changed in its place: the blocks at the root that differ are written anew.
  const whole = new Rewriter(text, document).rewriteBlocks(value)
  if (isDeepStrictEqual(saidBy(whole), value)) return whole
  throw new EvsysError('INTERNAL', 'a changed experiment could not be written as YAML')
}

function saidBy(text: string): unknown {
  try {
    return yamlValue(text, 'text')
  } catch (error) {
    if (EvsysError.is(error)) return undefined
    throw error
  }
}

class Rewriter {
  readonly #text: string
  readonly #document: Document.Parsed
  readonly #splices: Splice[] = []
  readonly #said = new Map<unknown, Json>()

  constructor(text: string, document: Document.Parsed) {
    this.#text = text
    this.#document = document
  }

  rewrite(value: Mapping): string {
    const root = this.#document.contents
    if (!isMap(root) || root.flow === true) return `${itemText(value, 0)}\n`
    this.#map(root, value)
    this.#dropAnchors(root)
    return splicedText(this.#text, this.#splices)
  }

  rewriteBlocks(value: Mapping): string {
    const root = this.#document.contents
    if (!isMap(root) || root.flow === true) return `${itemText(value, 0)}\n`
    const isKept = (pair: Pair) =>
      isDeepStrictEqual(this.#js(pair.value), value[keyOf(pair)]) && !isMerge(pair) && !this.#hasAlias(pair.value)
    const kept = root.items.filter(isKept)
    const differ = root.items.filter((pair) => !kept.includes(pair))
    for (const pair of differ) this.#removeLines(this.#startOf(pair), this.#endOfPair(pair))
    const names = Object.keys(value).filter((key) => !kept.some((pair) => keyOf(pair) === key))
    const text = splicedText(this.#text, this.#splices)
    const more = names.map((key) => `${keyText(key)}:${behindKey(value[key], 0)}\n`).join('')
    return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${more}`
  }

  #put(start: number, end: number, text: string): void {
    this.#splices.push({ start, end, text })
  }

  // What a node says; the text was read before, so every alias leads somewhere.
  #js(node: unknown): Json {
    if (isScalar(node)) return node.value
    if (!isNode(node)) return null
    if (!this.#said.has(node)) this.#said.set(node, this.#read(node))
    return this.#said.get(node)
  }

  #read(node: Node): Json {
    if (isAlias(node)) return this.#js(node.resolve(this.#document))
    if (isMap(node)) return this.#mapJs(node)
    return isSeq(node) ? node.items.map((item) => this.#js(item)) : null
  }

  #mapJs(node: YAMLMap): Mapping {
    const own = node.items.filter((pair) => !isMerge(pair))
    const merged = node.items.filter(isMerge).flatMap(({ value }) => [this.#js(value)].flat())
    const entries = own.map((pair) => [keyOf(pair), this.#js(pair.value)] as const)
    return Object.assign({}, ...merged.toReversed(), Object.fromEntries(entries))
  }

  #node(node: unknown, value: Json, indent: number, isFlow: boolean): void {
    if (!isNode(node) || !node.range) return
    const isSame = isDeepStrictEqual(this.#js(node), value)
    if (isAlias(node)) this.#replace(node, value, indent, isFlow)
    else if (isMap(node) && node.items.some(isMerge)) this.#replace(node, value, indent, isFlow)
    else if (isMap(node) && isMapping(value) && (isSame || node.items.length > 0)) this.#map(node, value)
    else if (isSeq(node) && Array.isArray(value) && (isSame || node.items.length > 0)) this.#seq(node, value)
    else if (!isSame) this.#replace(node, value, indent, isFlow)
  }

  #map(node: YAMLMap, value: Mapping): void {
    const kept = node.items.filter((pair) => Object.hasOwn(value, keyOf(pair)))
    const added = Object.keys(value).filter((key) => !node.items.some((pair) => keyOf(pair) === key))
    if (kept.length === 0) {
      if (node.items.length > 0 || added.length > 0)
        this.#replace(node, value, this.#columnOf(node), node.flow === true)
      return
    }
    for (const pair of kept) this.#pair(pair, value[keyOf(pair)], node)
    if (node.flow === true)
      this.#flowItems(
        node.items,
        kept,
        added.map((key) => flowPair(key, value[key])),
      )
    else this.#blockPairs(node, kept, added, value)
  }

  #pair(pair: Pair, value: Json, parent: YAMLMap): void {
    const isFlow = parent.flow === true
    const indent = isFlow ? 0 : this.#column(this.#startOf(pair))
    const node = pair.value
    if (isDeepStrictEqual(this.#js(node), value) && !isAlias(node)) {
      this.#node(node, value, indent + 2, isFlow)
      return
    }
    const isEmpty = !isNode(node) || !node.range || node.range[0] === node.range[1]
    if (isEmpty) {
      const at = this.#colonAfter(pair)
      this.#put(at, at, isFlow ? ` ${flowText(value)}` : behindKey(value, indent))
    } else if (isAlias(node) || !isAlike(node, value)) this.#replacePair(pair, node, value, indent, isFlow)
    else this.#node(node, value, indent + 2, isFlow)
  }

  // Behind its key: a block moves up or down a line with what it becomes.
  #replacePair(pair: Pair, node: Node, value: Json, indent: number, isFlow: boolean): void {
    const start = node.range?.[0] ?? 0
    const after = this.#colonAfter(pair)
    const between = this.#text.slice(after, start)
    const props = isAlias(node) ? '' : between.trim()
    if (isFlow || (isScalar(node) && isPlainValue(value) && props === ''))
      this.#replace(node, value, indent + 2, isFlow)
    else if (/^[ \t]*$|^[ \t]*\n\s*$/.test(between) || props.startsWith('&') || props.startsWith('|') || props === '') {
      this.#put(after, this.#endOf(node), behindKey(value, indent))
    } else this.#replace(node, value, indent + 2, false)
  }

  #blockPairs(node: YAMLMap, kept: readonly Pair[], added: readonly string[], value: Mapping): void {
    const [first] = node.items
    if (first === undefined) return
    const indent = this.#column(this.#startOf(first))
    const firstKept = kept[0]
    const head = firstKept === undefined ? 0 : node.items.indexOf(firstKept)
    // The first key may stand behind the dash of a list, and what follows takes its place.
    const isCompact =
      head > 0 && this.#text.slice(this.#lineStart(this.#startOf(first)), this.#startOf(first)).trim() !== ''
    if (isCompact && firstKept !== undefined) this.#put(this.#startOf(first), this.#startOf(firstKept), '')
    for (const [i, pair] of node.items.entries()) {
      if (kept.includes(pair) || (isCompact && i < head)) continue
      this.#removeLines(this.#startOf(pair), this.#endOfPair(pair))
    }
    const last = node.items.at(-1)
    if (added.length === 0 || last === undefined) return
    const lines = added.map((key) => `${' '.repeat(indent)}${keyText(key)}:${behindKey(value[key], indent)}\n`).join('')
    this.#insertLines(this.#endOfPair(last), lines)
  }

  #seq(node: YAMLSeq, value: readonly Json[]): void {
    const items: readonly unknown[] = node.items
    const old = items.map((item) => this.#js(item))
    const places = alignItems(old, value)
    const kept = items.filter((_, i) => places.includes(i))
    const isFlow = node.flow === true
    const isOdd = items.some((item) => !isNode(item) || !item.range)
    if (isDeepStrictEqual(old, value) && !isOdd) {
      for (const [i, item] of items.entries()) this.#node(item, value[i], this.#columnOf(item), isFlow)
      return
    }
    if (kept.length === 0 || isOdd || (!isFlow && !this.#isPlainList(items))) {
      this.#replace(node, value, this.#columnOf(node), isFlow)
      return
    }
    for (const [i, place] of places.entries()) {
      if (place !== undefined) this.#node(items[place], value[i], this.#columnOf(items[place]), isFlow)
    }
    const gone = items.map((_, i) => i).filter((i) => !places.includes(i))
    /** What an item was written as that moves, else what the value is written as. */
    const written = (item: Json, fallback: string) => {
      const at = gone.find((i) => isDeepStrictEqual(old[i], item) && !this.#hasAlias(items[i]))
      const from = at === undefined ? undefined : items[at]
      return from === undefined ? fallback : this.#text.slice(this.#startIn(from), this.#endOf(from))
    }
    if (isFlow) this.#flowList(items, kept, places, (i) => written(value[i], flowText(value[i])))
    else this.#blockList(items, places, value, written)
  }

  #flowList(
    items: readonly unknown[],
    kept: readonly unknown[],
    places: readonly (number | undefined)[],
    textAt: (i: number) => string,
  ): void {
    let before: unknown
    for (const [i, place] of places.entries()) {
      if (place !== undefined) before = items[place]
      else if (before !== undefined) this.#put(this.#endOf(before), this.#endOf(before), `, ${textAt(i)}`)
      else this.#put(this.#startIn(kept[0]), this.#startIn(kept[0]), `${textAt(i)}, `)
    }
    this.#flowItems(items, kept, [])
  }

  // Items of a flow collection that are gone, with their commas, and those that come to its end.
  #flowItems(items: readonly unknown[], kept: readonly unknown[], added: readonly string[]): void {
    const lastKept = items.findLastIndex((item) => kept.includes(item))
    for (let i = 0; i < lastKept; i++) {
      if (!kept.includes(items[i])) this.#put(this.#startIn(items[i]), this.#startIn(items[i + 1]), '')
    }
    const end = this.#endOf(items[lastKept])
    if (added.length > 0) this.#put(end, end, added.map((text) => `, ${text}`).join(''))
    if (lastKept < items.length - 1) this.#put(end, this.#endOf(items.at(-1)), '')
  }

  #blockList(
    items: readonly unknown[],
    places: readonly (number | undefined)[],
    value: readonly Json[],
    written: (item: Json, fallback: string) => string,
  ): void {
    const dash = this.#dashBefore(items[0])
    const indent = this.#column(dash)
    let before: unknown
    for (const [i, place] of places.entries()) {
      if (place !== undefined) {
        before = items[place]
        continue
      }
      const item = value[i]
      const line = `${' '.repeat(indent)}- ${written(item, itemText(item, indent + 2))}\n`
      if (before !== undefined) this.#insertLines(this.#endOf(before), line)
      else this.#put(this.#lineStart(dash), this.#lineStart(dash), line)
    }
    for (const [i, item] of items.entries()) {
      if (!places.includes(i)) this.#removeLines(this.#dashBefore(item), this.#endOf(item))
    }
  }

  #replace(node: Node, value: Json, indent: number, isFlow: boolean): void {
    const start = node.range?.[0] ?? 0
    const end = this.#endOf(node)
    const isQuoted = isScalar(node) && node.type === Scalar.QUOTE_DOUBLE && typeof value === 'string'
    this.#put(start, end, isQuoted ? JSON.stringify(value) : isFlow ? flowText(value) : itemText(value, indent))
  }

  // Once aliases are written out, what they named needs no name.
  #dropAnchors(node: unknown): void {
    if (!isNode(node) || isAlias(node)) return
    if ((isScalar(node) || isCollection(node)) && node.anchor !== undefined) {
      const start = node.range?.[0] ?? 0
      const from = this.#text.lastIndexOf(`&${node.anchor}`, start)
      const to = from + 1 + node.anchor.length
      const isLast = /^[ \t]*(?:\n|$)/.test(this.#text.slice(to))
      // Behind a dash, what was anchored moves up to it where its keys stay in one column.
      const isItem = this.#text.slice(from - 2, from) === '- ' && this.#column(from) === this.#columnOf(node)
      if (isLast && isItem && this.#text.slice(to, start).trim() === '') this.#put(from, start, '')
      else this.#put(isLast ? from - 1 : from, isLast ? to : to + 1, '')
    }
    if (isMap(node)) for (const pair of node.items) this.#dropAnchors(pair.value)
    if (isSeq(node)) for (const item of node.items) this.#dropAnchors(item)
  }

  #hasAlias(node: unknown): boolean {
    if (isAlias(node)) return true
    if ((isScalar(node) || isCollection(node)) && node.anchor !== undefined) return true
    if (isMap(node)) return node.items.some((pair) => isMerge(pair) || this.#hasAlias(pair.value))
    return isSeq(node) && node.items.some((item) => this.#hasAlias(item))
  }

  // Every item behind a dash that begins its line.
  #isPlainList(items: readonly unknown[]): boolean {
    return items.every((item) => {
      const dash = this.#dashBefore(item)
      return dash >= 0 && this.#text.slice(this.#lineStart(dash), dash).trim() === ''
    })
  }

  #dashBefore(item: unknown): number {
    return this.#text.lastIndexOf('-', this.#startOfProps(item) - 1)
  }

  // A node begins behind its anchor.
  #startOfProps(item: unknown): number {
    const start = this.#startIn(item)
    if (!(isScalar(item) || isCollection(item)) || item.anchor === undefined) return start
    const at = this.#text.lastIndexOf(`&${item.anchor}`, start)
    return at < 0 ? start : at
  }

  /** Start of an item: a node, or a pair of a flow mapping. */
  #startIn(item: unknown): number {
    return isNode(item) ? (item.range?.[0] ?? 0) : isPairLike(item) ? this.#startOf(item) : 0
  }

  #startOf(pair: Pair): number {
    return isNode(pair.key) ? (pair.key.range?.[0] ?? 0) : 0
  }

  /** End of what an item says, without the line breaks and comments behind it. */
  #endOf(item: unknown): number {
    if (isPairLike(item)) return this.#endOfPair(item)
    if (isNode(item) && isCollection(item) && item.flow !== true) {
      const last: unknown = item.items.at(-1)
      if (last !== undefined) return this.#endOf(last)
    }
    const [start, valueEnd] = isNode(item) ? (item.range ?? [0, 0]) : [0, 0]
    let end = valueEnd
    while (end > start && /\s/.test(this.#text[end - 1] ?? '')) end--
    return end
  }

  #endOfPair(pair: Pair): number {
    const { value } = pair
    const isThere = isNode(value) && value.range && value.range[1] > value.range[0]
    return isThere ? this.#endOf(value) : this.#colonAfter(pair)
  }

  /** Behind the colon of a pair; behind its key where there is none. */
  #colonAfter(pair: Pair): number {
    const end = isNode(pair.key) ? (pair.key.range?.[1] ?? 0) : 0
    const [found] = /^\s*:/.exec(this.#text.slice(end)) ?? ['']
    return end + found.length
  }

  #column(offset: number): number {
    return offset - this.#lineStart(offset)
  }

  #columnOf(node: unknown): number {
    if (isMap(node) && node.flow !== true && node.items[0] !== undefined)
      return this.#column(this.#startOf(node.items[0]))
    return this.#column(this.#startIn(node))
  }

  #lineStart(offset: number): number {
    return this.#text.lastIndexOf('\n', offset - 1) + 1
  }

  #removeLines(start: number, end: number): void {
    const newline = this.#text.indexOf('\n', end)
    this.#put(this.#lineStart(start), newline === -1 ? this.#text.length : newline + 1, '')
  }

  #insertLines(end: number, lines: string): void {
    const newline = this.#text.indexOf('\n', end)
    if (newline === -1) this.#put(this.#text.length, this.#text.length, `\n${lines.replace(/\n$/, '')}`)
    else this.#put(newline + 1, newline + 1, lines)
  }
}

/** Whether a node can become a value by changes inside of it. */
function isAlike(node: unknown, value: Json): boolean {
  if (isMap(node)) return isMapping(value) && node.items.some((pair) => Object.hasOwn(value, keyOf(pair)))
  return isSeq(node) && Array.isArray(value) && node.items.length > 0 && value.length > 0
}
