// JSON values as YAML text, in the way a person writes an experiment: short ones in one line, long ones in blocks; and what
// stands in its pairs.
import { isNode, isScalar, type Pair, stringify } from 'yaml'
import { isMapping } from '../../../kernel/index.ts'

type Json = unknown

/** Longest value that is written in one line behind its key. */
const longestLine = 110

const flowStyle = { collectionStyle: 'flow', lineWidth: 0 } as const

/** A value in one line, where braces may stand around it. */
export function flowText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(flowText).join(', ')}]`
  if (isMapping(value)) {
    const pairs = Object.keys(value).map((key) => flowPair(key, value[key]))
    return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`
  }
  return stringify([value], flowStyle).trimEnd().slice(2, -2)
}

export function flowPair(key: string, value: Json): string {
  return `${stringify({ [key]: 0 }, flowStyle)
    .trimEnd()
    .slice(2, -5)}: ${flowText(value)}`
}

export function keyText(key: string): string {
  return stringify({ [key]: null }, { lineWidth: 0 })
    .trimEnd()
    .replace(/: null$/, '')
}

function isShort(value: Json, indent: number): boolean {
  return isPlainValue(value) || (!hasLines(value) && flowText(value).length + indent <= longestLine)
}

function hasLines(value: Json): boolean {
  if (typeof value === 'string') return value.includes('\n')
  return typeof value === 'object' && value !== null && Object.values(value).some(hasLines)
}

/** A value where a block may stand, its first line in place, the others indented. */
export function itemText(value: Json, indent: number): string {
  if (isShort(value, indent)) return flowText(value)
  const pad = ' '.repeat(indent)
  if (typeof value === 'string') return literalText(value, indent)
  if (Array.isArray(value)) return value.map((item) => `- ${itemText(item, indent + 2)}`).join(`\n${pad}`)
  return Object.entries(Object(value))
    .map(([key, inner]) => `${keyText(key)}:${behindKey(inner, indent)}`)
    .join(`\n${pad}`)
}

/** What stands behind `key:`. */
export function behindKey(value: Json, indent: number): string {
  if (isShort(value, indent + 8)) return ` ${flowText(value)}`
  if (typeof value === 'string') return ` ${literalText(value, indent + 2)}`
  return `\n${' '.repeat(indent + 2)}${itemText(value, indent + 2)}`
}

/** Text of several lines. What stands at the root of a text has no indentation that says where it ends: it is quoted. */
function literalText(text: string, indent: number): string {
  const [, block = ''] = /^x:\s([\s\S]*)$/.exec(stringify({ x: text }, { lineWidth: 0 }).trimEnd()) ?? []
  if (!block.startsWith('|') || !/^\|[-+]?\n/.test(block) || /\n\s*$/.test(text.replace(/\n$/, '')))
    return JSON.stringify(text)
  return block.replace(/^ {2}(?=.)/gm, ' '.repeat(indent))
}

/** A value of one line: no list, no mapping. */
export function isPlainValue(value: unknown): boolean {
  return !isMapping(value) && !Array.isArray(value) && !(typeof value === 'string' && value.includes('\n'))
}

export function keyOf({ key }: Pair): string {
  return isScalar(key) ? (typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))) : String(key)
}

export function isMerge({ key }: Pair): boolean {
  return isScalar(key) && key.value === '<<' && key.type === 'PLAIN'
}

export function isPairLike(item: unknown): item is Pair {
  return typeof item === 'object' && item !== null && 'key' in item && !isNode(item)
}

/** A piece of the text and what stands there afterwards. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The text with every splice made. What lies inside of a wider one goes with it. */
export function splicedText(source: string, splices: readonly Splice[]): string {
  const ordered = splices
    .map((splice, i) => ({ ...splice, i }))
    .sort((a, b) => a.start - b.start || widthOrder(a, b) || a.i - b.i)
  let text = ''
  let at = 0
  for (const { start, end, text: put } of ordered) {
    if (start < at) continue // inside of what was replaced as a whole
    text += source.slice(at, start) + put
    at = end
  }
  return text + source.slice(at)
}

// At one place: what is put in first, then the widest that is taken out.
function widthOrder(a: Splice, b: Splice): number {
  const [wide, other] = [a.end - a.start, b.end - b.start]
  return wide === 0 || other === 0 ? wide - other : other - wide
}
