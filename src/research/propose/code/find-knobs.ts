import type { CandidateFiles, KnobSpec, Knobs } from '../../../contracts/index.ts'
import { guessSpec } from './guess-spec.ts'
import { type KnobSite, knobSites } from './knob-sites.ts'

/** What can be turned in a candidate. */
export interface FoundKnobs {
  /** As they stand in the code. */
  readonly knobs: Knobs
  /** What they may be: as the task declares, or as the literal suggests. A knob without a place here is known and left alone. */
  readonly space: Readonly<Record<string, KnobSpec>>
}

/**
 * The knobs of a candidate: literals with names in capitals in JavaScript, Python, JSON and YAML, and those that the task declares
 * under any name. A name that stands in two places is none: turning one of them would not turn the other.
 */
export function findKnobs(files: CandidateFiles, declared: Readonly<Record<string, KnobSpec>> = {}): FoundKnobs {
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
export function sitesByName(
  files: CandidateFiles,
  declared: Readonly<Record<string, KnobSpec>> = {},
): Map<string, KnobSite[]> {
  const sites = knobSites(files, Object.keys(declared))
  const names = [...new Set(sites.map(({ name }) => name))].sort()
  return new Map(names.map((name) => [name, sites.filter((site) => site.name === name)]))
}
