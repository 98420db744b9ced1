// The parts of tokenizer.json that can be followed exactly, and why others cannot.
import * as z from 'zod'

/** The parts of a tokenizer that are composed of small ones. */
export const partNames = ['normalizer', 'pre_tokenizer', 'decoder'] as const
type PartName = (typeof partNames)[number]

/** Something that is wrong with a part, and where. */
interface PartFault {
  readonly path: (string | number)[]
  readonly message: string
}

const deepestNesting = 8
const longestSequence = 100
/** Most tokenizers replace a character by another one. */
const mostGrowth = 100

/** Everything in a part that could not be followed exactly, or not safely. */
export function partFaults(name: PartName, config: unknown): PartFault[] {
  const found = [...faults({ name, path: [name], depth: 0 }, config)]
  if (found.length > 0) return found
  const { parts, growth } = sizeOf(name, config)
  if (parts > longestSequence) return [{ path: [name], message: `it has more than ${longestSequence} parts` }]
  if (growth > mostGrowth) return [{ path: [name], message: `it makes texts more than ${mostGrowth} times longer` }]
  return []
}

/** How many parts there are, and how much longer than before the replacements may make a text, one after the other. */
function sizeOf(name: PartName, part: unknown): { parts: number; growth: number } {
  const config: Config = Object(part)
  const list = config[listKeys[name]]
  if (config.type !== 'Sequence' || !Array.isArray(list)) return { parts: 1, growth: growthOf(config) }
  const all = list.map((each) => sizeOf(name, each))
  return {
    parts: all.reduce((sum, each) => sum + each.parts, 1),
    growth: all.reduce((product, each) => product * each.growth, 1),
  }
}

// A regular expression may match nothing, between any two characters.
function growthOf({ type, pattern, content }: Config): number {
  if (type !== 'Replace' || typeof content !== 'string') return 1
  const { String: word }: Config = Object(pattern)
  return typeof word === 'string' ? Math.max(1, content.length / word.length) : content.length + 1
}

type Config = Record<string, unknown>
type At = { name: PartName; path: (string | number)[]; depth: number }

function* faults(at: At, part: unknown): Generator<PartFault> {
  if (part === null) return
  const config: Config = Object(part)
  const type = String(config.type)
  if (type === 'Sequence') {
    yield* sequenceFaults(at, config)
    return
  }
  const rules = rulesOf[at.name]
  const fields = Object.hasOwn(rules, type) ? rules[type] : undefined
  if (fields === undefined) {
    const known = [...Object.keys(rules), 'Sequence'].join(', ')
    const message = `the ${at.name} ${JSON.stringify(type)} cannot be followed exactly (known: ${known})`
    yield { path: [...at.path, 'type'], message }
    return
  }
  for (const [key, schema] of Object.entries(fields)) {
    if (schema.safeParse(config[key]).success) continue
    yield { path: [...at.path, key], message: `a ${type} with this ${key} cannot be followed exactly` }
  }
  if ('pattern' in fields) yield* patternFaults(at, config.pattern)
  if (type === 'Split' && config.behavior === 'Isolated' && config.invert === true) {
    yield { path: [...at.path, 'invert'], message: 'an inverted Split that is Isolated cannot be followed exactly' }
  }
}

function* sequenceFaults({ name, path, depth }: At, config: Config): Generator<PartFault> {
  const key = listKeys[name]
  const list = config[key]
  if (depth >= deepestNesting) {
    yield { path, message: `sequences are nested deeper than ${deepestNesting}` }
  } else if (!Array.isArray(list) || list.length > longestSequence) {
    yield { path: [...path, key], message: `expected a list of at most ${longestSequence} parts` }
  } else {
    for (const [index, part] of list.entries()) {
      const at = { name, path: [...path, key, index], depth: depth + 1 }
      if (typeof part === 'object' && part !== null) yield* faults(at, part)
      else yield { path: at.path, message: 'expected a mapping' }
    }
  }
}

function* patternFaults({ path }: At, pattern: unknown): Generator<PartFault> {
  const { Regex }: Config = Object(pattern)
  const danger = typeof Regex === 'string' ? patternDanger(Regex) : undefined
  if (danger === undefined) return
  yield { path: [...path, 'pattern'], message: `this pattern could run without end: ${danger}` }
}

const listKeys = { normalizer: 'normalizers', pre_tokenizer: 'pretokenizers', decoder: 'decoders' } as const

const text = z.string().max(1000)
const flag = z.boolean().optional()
const sign = z.string().length(1)
const count = z.int().min(0).max(1000)
const pattern = z.union([z.strictObject({ String: text.min(1) }), z.strictObject({ Regex: z.string().min(1) })])

// By type, the fields that are read.
const rulesOf: Record<PartName, Record<string, Record<string, z.ZodType>>> = {
  normalizer: {
    NFC: {},
    NFD: {},
    NFKC: {},
    NFKD: {},
    Lowercase: {},
    Prepend: { prepend: text },
    Replace: { pattern, content: text },
  },
  pre_tokenizer: {
    ByteLevel: { add_prefix_space: flag, use_regex: flag },
    Digits: { individual_digits: flag },
    Split: { pattern, behavior: z.enum(['Isolated', 'Removed']), invert: flag },
    Metaspace: { replacement: sign, prepend_scheme: z.enum(['always', 'first', 'never']).optional(), split: flag },
  },
  decoder: {
    ByteLevel: {},
    ByteFallback: {},
    Fuse: {},
    Replace: { pattern, content: text },
    Strip: { content: sign, start: count, stop: count },
    Metaspace: { replacement: sign },
    BPEDecoder: { suffix: text.min(1) },
  },
}

// Patterns come from foreign files and run in a backtracking engine that nothing can stop. A repeated group can take
// exponential time ((a+)+, (a|ab)*), so only single characters and classes may be repeated without bound; no tokenizer in
// use needs more. What stays possible is polynomial: several overlapping repetitions in a row, over a long text.
const longestPattern = 20_000
const mostRepeats = 1000
const mostInARow = 3

/** Why a pattern is not safe to run, or undefined. Reads the syntax that tokenizer files share with JavaScript. */
export function patternDanger(pattern: string): string | undefined {
  if (pattern.length > longestPattern) return `the pattern has more than ${longestPattern} characters`
  let at = 0
  let unitIsGroup = false
  let inARow = 0
  while (at < pattern.length) {
    // A second + or ? makes a repetition possessive or lazy.
    const repeat = /^(?:[*+?]|\{(\d*)(,?)(\d*)\})(?=([+?]?))/.exec(pattern.slice(at, at + 30))
    if (repeat !== null && at > 0) {
      const [text, low = '', comma = '', high = '', manner = ''] = repeat
      const bound = text === '?' ? 1 : boundOf(text, low, comma, high)
      const isUnbounded = bound > mostRepeats
      if (unitIsGroup && bound > 1) return 'a group is repeated'
      if (isUnbounded && ++inARow > mostInARow) return `more than ${mostInARow} repetitions stand in a row`
      at += text.length + manner.length
      continue
    }
    const char = pattern[at]
    if (char === '\\') {
      if (/[1-9k]/.test(pattern[at + 1] ?? '')) return 'it refers back to a group'
      at += /^\\[pPxu]\{[^}]*\}/.exec(pattern.slice(at, at + 60))?.[0].length ?? 2
      unitIsGroup = false
    } else if (char === '[') {
      at = classEnd(pattern, at)
      unitIsGroup = false
    } else {
      if (char === '|' || char === '(') inARow = 0
      unitIsGroup = char === ')'
      at++
    }
  }
  return undefined
}

function boundOf(text: string, low: string, comma: string, high: string): number {
  return text.length === 1 || (comma !== '' && high === '') ? Number.POSITIVE_INFINITY : Number(high || low)
}

function classEnd(pattern: string, start: number): number {
  let depth = 0
  for (let at = start; at < pattern.length; at++) {
    if (pattern[at] === '\\') at++
    else if (pattern[at] === '[') depth++
    else if (pattern[at] === ']' && at > start + 1 && --depth === 0) return at + 1
  }
  return pattern.length
}
