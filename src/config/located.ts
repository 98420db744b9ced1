// The tree that configuration is rewritten in. Nodes are never changed, only replaced, and a node keeps the place of the text
// it was written in wherever it is moved: through `extends`, `--set`, shorthands and axes. Subtrees are shared between arms.
import type { Excerpt } from '../kernel/index.ts'

export type Step = string | number
export type Path = readonly Step[]
export type Json = string | number | boolean | null

/** Where something was written: its text, the key in front of it, and its path in its own file. */
export interface Origin extends Span {
  /** The key that the value stands behind. */
  readonly key?: { readonly start: number; readonly end: number } | undefined
  /** Written over several lines below its key: then the key is the better thing to point at. */
  readonly isBlock?: boolean | undefined
  readonly parent?: Origin | undefined
  readonly step?: Step | undefined
}

interface LocatedScalar {
  readonly type: 'scalar'
  readonly origin: Origin
  readonly value: Json
}

interface LocatedSeq {
  readonly type: 'seq'
  readonly origin: Origin
  readonly items: readonly LocatedNode[]
}

/** A key, where the key was written, and what it holds. */
export interface LocatedEntry {
  readonly key: string
  readonly at: Origin
  readonly value: LocatedNode
}

export interface LocatedMap {
  readonly type: 'map'
  readonly origin: Origin
  readonly entries: ReadonlyMap<string, LocatedEntry>
}

export type LocatedNode = LocatedScalar | LocatedSeq | LocatedMap

export function scalarNode(value: Json, origin: Origin): LocatedScalar {
  return { type: 'scalar', origin, value: value === 0 ? 0 : value } // JSON has no negative zero
}

export function seqNode(items: readonly LocatedNode[], origin: Origin): LocatedSeq {
  return { type: 'seq', origin, items }
}

export function mapNode(entries: Iterable<LocatedEntry>, origin: Origin): LocatedMap {
  return { type: 'map', origin, entries: new Map(Array.from(entries, (entry) => [entry.key, entry])) }
}

/** A node as it would stand below `parent`: for what a rewrite puts where nothing was written. */
export function impliedOrigin(parent: Origin, step: Step): Origin {
  return { ...focusOf(parent), parent, step }
}

/** The path of a place in its own file. */
export function pathOf(origin: Origin): Path {
  const steps: Step[] = []
  for (let at: Origin | undefined = origin; at !== undefined; at = at.parent) {
    if (at.step !== undefined) steps.push(at.step)
  }
  return steps.reverse()
}

/** The place of a value whose whole path is written at one span, as on a command line. */
export function originAlong(path: Path, span: Span): Origin {
  return path.reduce<Origin>((parent, step) => ({ ...span, parent, step }), span)
}

/** What to point at: the key of a block or of nothing at all, else the value itself. */
export function focusOf(origin: Origin): Span {
  const { source, start, end, key, isBlock } = origin
  return key !== undefined && (isBlock === true || start === end) ? { source, ...key } : { source, start, end }
}

export function nodeAt(node: LocatedNode | undefined, path: Path): LocatedNode | undefined {
  let here = node
  for (const step of path) here = here === undefined ? undefined : childOf(here, step)
  return here
}

/** The items of a list; none for anything else. */
export function itemsOf(node: LocatedNode | undefined): readonly LocatedNode[] {
  return node?.type === 'seq' ? node.items : []
}

/** One step down: a key of a mapping or an index of a list. */
export function childOf(node: LocatedNode, step: Step): LocatedNode | undefined {
  if (node.type === 'map') return node.entries.get(String(step))?.value
  if (node.type === 'seq') return typeof step === 'number' ? node.items[step] : undefined
  return undefined
}

export function isNull(node: LocatedNode | undefined): boolean {
  return node?.type === 'scalar' && node.value === null
}

export function textOf(node: LocatedNode | undefined): string | undefined {
  return node?.type === 'scalar' && typeof node.value === 'string' ? node.value : undefined
}

export function numberOf(node: LocatedNode | undefined): number | undefined {
  return node?.type === 'scalar' && typeof node.value === 'number' ? node.value : undefined
}

const plain = new WeakMap<LocatedNode, unknown>()

/** The node as a plain value. Frozen, since nodes that are shared give values that are shared. */
export function toJs(node: LocatedNode): unknown {
  if (node.type === 'scalar') return node.value
  const known = plain.get(node)
  if (known !== undefined) return known
  const value =
    node.type === 'seq'
      ? node.items.map(toJs)
      : Object.fromEntries(Array.from(node.entries.values(), (entry) => [entry.key, toJs(entry.value)]))
  plain.set(node, Object.freeze(value))
  return value
}

// A text that someone wrote, and where in it something stands. Everything that is rewritten later keeps pointing here.
/** A file, the `--set` arguments, or a mapping that was made in code. */
export interface Source {
  /** As it is printed: the path the user gave, `--set`, `(value)`. */
  readonly name: string
  readonly text: string
  /** Folder that relative paths in the text start from. */
  readonly dir: string
  /** Layer in which it is laid over others, known once they are merged: where two say the same thing, the higher is meant. */
  rank: number
}

/** A piece of a source: UTF-16 offsets, end exclusive. */
export interface Span {
  readonly source: Source
  readonly start: number
  readonly end: number
}

/** 1-based line and column of an offset. */
export function positionOf(source: Source, offset: number): { line: number; col: number } {
  const starts = lineStartsOf(source)
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return { line: low + 1, col: offset - (starts[low] ?? 0) + 1 }
}

/** The line that a span starts on, with the part of the span that lies on it. */
export function excerptOf({ source, start, end }: Span): Excerpt {
  const { line, col } = positionOf(source, start)
  const from = lineStartsOf(source)[line - 1] ?? 0
  const newline = source.text.indexOf('\n', from)
  const text = source.text.slice(from, newline === -1 ? undefined : newline).replace(/\r$/, '')
  const visible = Math.max(0, Math.min(end - from, text.trimEnd().length) - (col - 1))
  return { text, line, col, length: Math.max(1, visible) }
}

const lineStarts = new WeakMap<Source, number[]>()

function lineStartsOf(source: Source): number[] {
  const known = lineStarts.get(source)
  if (known !== undefined) return known
  const starts = [0]
  for (let at = source.text.indexOf('\n'); at !== -1; at = source.text.indexOf('\n', at + 1)) starts.push(at + 1)
  lineStarts.set(source, starts)
  return starts
}
