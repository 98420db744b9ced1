// Where the knobs of a candidate stand in its code: literals with a name that is written in capitals, or that the task declares.
import type { CandidateFiles, KnobValue } from '../../../contracts/index.ts'
import { type Language, languageOf, maskCode } from './mask-code.ts'

/** A literal with a name. */
export interface KnobSite {
  readonly name: string
  readonly value: KnobValue
  readonly file: string
  /** Of the literal, in characters of its file. */
  readonly start: number
  readonly end: number
  readonly language: Language
}

const number = String.raw`[+-]?(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?`
const literal = String.raw`(?<literal>${number}(?:\s*\*{1,2}\s*${number})*|true|false|True|False|"[^"\n]*"|'[^'\n]*')`
const annotation = String.raw`(?:\s*:\s*[\w.$[\]| ]+)?`
const lineEnds = String.raw`(?=[ \t]*(?:;|\r?$))`
const capitals = '[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*'

const patterns: Readonly<Record<Language, (name: string, isDeclared: boolean) => RegExp>> = {
  // A property has its colon at once: in `a ? NAME : 0` it is none.
  javascript: (name, isDeclared) =>
    isDeclared
      ? new RegExp(
          String.raw`(?:(?<![\w$.])(?<name>${name})${annotation}\s*=|(?<=(?:^|[{,])\s*)(?<key>${name}):)\s*${literal}(?=\s*(?:[;,})]|\r?$))`,
          'gm',
        )
      : new RegExp(
          String.raw`^(?:export\s+)?(?:const|let|var)\s+(?<name>${name})${annotation}\s*=\s*${literal}${lineEnds}`,
          'gm',
        ),
  python: (name, isDeclared) =>
    isDeclared
      ? new RegExp(String.raw`(?<![\w.])(?<name>${name})${annotation}\s*=\s*${literal}(?=[ \t]*(?:[;,)]|\r?$))`, 'gm')
      : new RegExp(String.raw`^(?<name>${name})${annotation}\s*=\s*${literal}${lineEnds}`, 'gm'),
  json: (name) => new RegExp(String.raw`"(?<name>${name})"\s*:\s*${literal}(?=\s*[,}])`, 'gm'),
  yaml: (name) => new RegExp(String.raw`^(?<name>${name})\s*:[ \t]+${literal}(?=[ \t]*\r?$)`, 'gm'),
}

/** Every place of every knob, in the order of files and text. A name may stand in several. */
export function knobSites(files: CandidateFiles, declared: readonly string[] = []): KnobSite[] {
  return Object.entries(files)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([file, text]) => sitesIn(file, text, declared))
}

function sitesIn(file: string, text: string, declared: readonly string[]): KnobSite[] {
  const language = languageOf(file)
  if (language === undefined) return []
  // Keys and values of data are texts themselves.
  const masked = language === 'json' ? text : maskCode(text, language)
  const found = new Map<number, KnobSite>()
  const look = (pattern: RegExp) => {
    for (const match of masked.matchAll(pattern)) {
      const { key = '', name = key, literal: written = '' } = match.groups ?? {}
      const start = match.index + match[0].length - written.length
      const value = literalValue(text.slice(start, start + written.length))
      if (value !== undefined) found.set(start, { name, value, file, start, end: start + written.length, language })
    }
  }
  look(patterns[language](capitals, false))
  // A constant at the start of a line is the place of its name, whatever else looks like one.
  const placed = new Set([...found.values()].map(({ name }) => name))
  for (const name of declared) if (!placed.has(name)) look(patterns[language](escaped(name), true))
  return [...found.values()].sort((a, b) => a.start - b.start)
}

/** What a literal is worth; undefined: it is not understood. */
function literalValue(written: string): KnobValue | undefined {
  if (/^true$/i.test(written)) return true
  if (/^false$/i.test(written)) return false
  const quote = written[0]
  if (quote === '"' || quote === "'") {
    const inside = written.slice(1, -1)
    return /[\\]/.test(inside) ? undefined : inside
  }
  const value = product(written.replaceAll('_', ''))
  return Number.isFinite(value) ? value : undefined
}

// Products of powers: 2 ** 14, 64 * 1024. Powers bind from the right.
function product(written: string): number {
  return written
    .split(/(?<!\*)\*(?!\*)/)
    .map((factor) =>
      factor
        .split('**')
        .map((each) => Number(each.trim()))
        .reduceRight((exponent, base) => base ** exponent),
    )
    .reduce((a, b) => a * b)
}

function escaped(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}
