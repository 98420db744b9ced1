import type { CandidateFiles, KnobSpec, Knobs, KnobValue } from '../../../contracts/index.ts'
import { type KnobSite, knobSites } from './knob-sites.ts'

type Space = Readonly<Record<string, KnobSpec>>

/**
 * The knobs of a candidate: literals with names in capitals in JavaScript, Python, JSON and YAML, and those that the task declares
 * under any name. A name that stands in two places is none: turning one of them would not turn the other. `space`: what they may be,
 * as the task declares or as the literal suggests; a knob that is not in it is known and left alone.
 */
export function findKnobs(
  files: CandidateFiles,
  declared: Space = {},
): { readonly knobs: Knobs; readonly space: Space } {
  const knobs: Knobs = {}
  const space: Record<string, KnobSpec> = {}
  for (const [name, sites] of sitesByName(files, declared)) {
    const [site] = sites
    if (site === undefined || sites.length > 1) continue
    knobs[name] = site.value
    const written = files[site.file]?.slice(site.start, site.end) ?? ''
    const spec = Object.hasOwn(declared, name) ? declared[name] : guessSpec(name, site.value, !/[.eE]/.test(written))
    if (spec !== undefined) space[name] = spec
  }
  return { knobs, space }
}

/** The places of every knob by its name, names in order. */
function sitesByName(files: CandidateFiles, declared: Space): Map<string, KnobSite[]> {
  const sites = knobSites(files, Object.keys(declared))
  const names = [...new Set(sites.map(({ name }) => name))].sort()
  return new Map(names.map((name) => [name, sites.filter((site) => site.name === name)]))
}

/** The files with other literals in the place of some knobs, or everything that keeps them from being turned. */
export function turnKnobs(
  files: CandidateFiles,
  turned: Knobs,
  declared: Space = {},
): { files: CandidateFiles } | { problems: string[] } {
  const byName = sitesByName(files, declared)
  const problems: string[] = []
  const edits: { site: KnobSite; written: string }[] = []
  for (const [name, value] of Object.entries(turned)) {
    const sites = byName.get(name) ?? []
    const [site] = sites
    const spec = Object.hasOwn(declared, name) ? declared[name] : undefined
    if (site === undefined) problems.push(`no knob is called ${name}. Known: ${known(byName)}`)
    else if (sites.length > 1) problems.push(`${name} stands in ${sites.length} places: it cannot be turned`)
    else if (spec !== undefined && !allows(spec, value)) problems.push(`${name} cannot be ${JSON.stringify(value)}`)
    else {
      const written = literalOf(value, site, files[site.file] ?? '')
      if (written === undefined)
        problems.push(`${name} is ${JSON.stringify(site.value)}: it cannot be ${JSON.stringify(value)}`)
      else edits.push({ site, written })
    }
  }
  if (problems.length > 0) return { problems }
  const changed: Record<string, string> = { ...files }
  // From the end: the places before an edit stay where they are.
  for (const { site, written } of edits.sort((a, b) => b.site.start - a.site.start)) {
    const text = changed[site.file] ?? ''
    changed[site.file] = text.slice(0, site.start) + written + text.slice(site.end)
  }
  return { files: changed }
}

/** Whether a value lies within what a knob may be. */
export function allows(spec: KnobSpec, value: KnobValue): boolean {
  if (spec.kind === 'choice') return spec.values.includes(value)
  if (typeof value !== 'number' || !(value >= spec.low && value <= spec.high)) return false
  return !spec.integer || Number.isInteger(value)
}

function known(byName: ReadonlyMap<string, readonly KnobSite[]>): string {
  return [...byName.keys()].slice(0, 40).join(', ') || 'none'
}

// A number stays a number and a text a text: another type is another program.
function literalOf(value: KnobValue, site: KnobSite, text: string): string | undefined {
  if (typeof value !== typeof site.value) return undefined
  if (typeof value === 'boolean') {
    const [yes, no] = site.language === 'python' && !site.file.endsWith('.toml') ? ['True', 'False'] : ['true', 'false']
    return value ? yes : no
  }
  if (typeof value === 'string') {
    const quote = text[site.start] ?? '"'
    return /[\\\r\n\u2028\u2029]/.test(value) || value.includes(quote) ? undefined : `${quote}${value}${quote}`
  }
  if (!Number.isFinite(value)) return undefined
  const wasReal = /[.eE]/.test(text.slice(site.start, site.end))
  const written = String(value)
  return wasReal && site.language === 'python' && /^-?\d+$/.test(written) ? `${written}.0` : written
}

// What a literal may be where the task does not say: wide enough to find a gain, narrow enough that most values run.
// Of the task, not of the candidate: turning them breaks the run or the comparison.
const fixed =
  /(?:^|_)(?:SEEDS?|RNG|PATH|DIR|DIRS|FILE|FOLDER|URL|DEVICE|VERSION|PORT|DTYPE|SECONDS|TIMEOUT|BUDGET|CLASSES|VOCAB|INPUTS?|OUTPUTS?|CHANNELS_IN|EPS|EPSILON|EVAL|LOG|DEBUG|PHASE|SPLIT|IMAGE|SIDE|PIXELS)(?:_|$)/
const share = /DROP|PROB|RATIO|FRAC|SMOOTH|SHARE|MASK/
const average = /MOMENTUM|BETA|EMA|AVERAGE|DECAY/

/** The range of a knob by its name and its value in the code; undefined: it is left alone. */
function guessSpec(name: string, value: KnobValue, isWhole: boolean): KnobSpec | undefined {
  if (fixed.test(name)) return undefined
  if (typeof value === 'boolean') return { kind: 'choice', values: [false, true], ordered: false }
  if (typeof value === 'string') return undefined
  return isWhole ? wholeSpec(value) : realSpec(name, value)
}

function wholeSpec(value: number): KnobSpec | undefined {
  if (value < 0) return undefined
  if (value <= 1) return { kind: 'range', low: value, high: value + 4, log: false, integer: true }
  // Widths and batches divide one another: a power of two stays one.
  if (value >= 8 && Number.isInteger(Math.log2(value)))
    return { kind: 'choice', values: [value / 4, value / 2, value, value * 2, value * 4], ordered: true }
  return { kind: 'range', low: Math.max(1, Math.round(value / 4)), high: value * 4, log: true, integer: true }
}

function realSpec(name: string, value: number): KnobSpec {
  const range = (low: number, high: number, log = false) => ({ kind: 'range', low, high, log, integer: false }) as const
  if (share.test(name) && value >= 0 && value < 1) return range(0, Math.max(0.5, rounded((1 + value) / 2)))
  // What is left of an average matters: 0.9 is to 0.99 as 0.99 is to 0.999.
  if (average.test(name) && value >= 0.5 && value < 1)
    return range(rounded(Math.max(0, 1 - (1 - value) * 5)), rounded(1 - (1 - value) / 10))
  if (value === 0) return range(0, /DECAY|L1|L2|PENALTY/.test(name) ? 0.1 : 1)
  return value > 0 ? range(rounded(value / 10), rounded(value * 10), true) : range(value * 2, rounded(value / 10))
}

function rounded(value: number): number {
  return Number(value.toPrecision(6))
}
