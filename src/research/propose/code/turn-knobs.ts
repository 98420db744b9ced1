import type { CandidateFiles, KnobSpec, Knobs, KnobValue } from '../../../contracts/index.ts'
import { sitesByName } from './find-knobs.ts'
import type { KnobSite } from './knob-sites.ts'

/** The files with other literals in the place of some knobs, or everything that keeps them from being turned. */
export function turnKnobs(
  files: CandidateFiles,
  turned: Knobs,
  declared: Readonly<Record<string, KnobSpec>> = {},
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
function allows(spec: KnobSpec, value: KnobValue): boolean {
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
