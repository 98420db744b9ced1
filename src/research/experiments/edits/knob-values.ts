// What the knobs of a catalogue are in a document, and a document with other ones. A knob that has no effect has its default, so that
// equal documents have equal knobs, and what it wrote is taken out, so that a point has one document.
import { isDeepStrictEqual } from 'node:util'
import type {
  CandidateFiles,
  EditCatalog,
  EditKnob,
  KnobSpec,
  Knobs,
  KnobValue,
  Random,
} from '../../../contracts/index.ts'
import { allows } from '../../propose/code/knobs.ts'
import { documentValue } from './apply-edits.ts'
import { entryKind, indexOfKind, namesOf, pathOfName } from './named-place.ts'
import { getAt, type Mapping, putAt } from './places.ts'
import { upToSplit } from './protected.ts'
import { rewriteYaml } from './rewrite-yaml.ts'

/** Every knob of the catalogue: what the document says, else its default. */
export function readKnobs(files: CandidateFiles, catalog: EditCatalog): Knobs {
  return knobsOf(documentValue(files, catalog.document), catalog)
}

/** The document with other values; turning to what it has already changes nothing. */
export function turnKnobs(
  files: CandidateFiles,
  turned: Knobs,
  catalog: EditCatalog,
): { readonly files: CandidateFiles } | { readonly problems: string[] } {
  const before = documentValue(files, catalog.document)
  const own = knobsOf(before, catalog)
  const problems = Object.entries(turned).flatMap(([name, value]) => {
    const knob = Object.hasOwn(catalog.knobs, name) ? catalog.knobs[name] : undefined
    if (knob === undefined)
      return [`no knob is called ${name}. Known: ${Object.keys(catalog.knobs).slice(0, 40).join(', ')}`]
    return value === own[name] || allows(knob.spec, value) ? [] : [`${name} cannot be ${JSON.stringify(value)}`]
  })
  if (problems.length > 0) return { problems }
  const after = turnedValue(before, turned, catalog)
  if (typeof after === 'string') return { problems: [after] }
  const text = files[catalog.document] ?? ''
  return { files: { ...files, [catalog.document]: rewriteYaml(text, after) } }
}

/** The value of a document with other knobs; a text says why that cannot be. */
function turnedValue(before: Mapping, turned: Knobs, catalog: EditCatalog): Mapping | string {
  const own = knobsOf(before, catalog)
  const wanted = settledKnobs({ ...own, ...turned }, catalog)
  let value = before
  const entries = Object.entries(catalog.knobs)
  // Entries come and go before what stands in them is turned, and their order is the last.
  for (const kind of ['item', 'set', 'order'] as const) {
    for (const [name, knob] of entries) {
      const to = wanted[name]
      if (knob.action.kind !== kind || to === undefined) continue
      const active = isActive(knob, wanted)
      // What has just come to have an effect may say already what is wanted.
      const now = isActive(knob, own) ? own[name] : (knobValue(value, knob) ?? knob.value)
      if (active && to === now) continue
      const changed = active ? acted(value, knob, to) : knob.action.kind === 'set' ? takenOut(value, knob) : value
      if (typeof changed === 'string') return `${name}: ${changed}`
      value = changed
    }
  }
  return value
}

/** Knobs in their one form: those without effect have their default, and orders say nothing of what is not there. */
export function settledKnobs(knobs: Knobs, catalog: EditCatalog): Knobs {
  const settled: Record<string, KnobValue> = {}
  for (const [name, knob] of Object.entries(catalog.knobs)) {
    const value = isActive(knob, knobs) ? (knobs[name] ?? knob.value) : knob.value
    if (value !== undefined) settled[name] = value
  }
  return settled
}

/** Whether a knob has an effect, by the others. */
export function isActive({ when }: EditKnob, knobs: Knobs): boolean {
  return Object.entries(when ?? {}).every(([name, values]) => values.some((value) => value === knobs[name]))
}

function knobsOf(root: Mapping, catalog: EditCatalog): Knobs {
  const entries = Object.entries(catalog.knobs).map(
    ([name, knob]) => [name, knobValue(root, knob) ?? knob.value] as const,
  )
  const written = Object.fromEntries(entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  return settledKnobs(written, catalog)
}

function knobValue(root: Mapping, { action, spec }: EditKnob): KnobValue | undefined {
  const path = pathOfName(root, action.path)
  const here = path === undefined ? undefined : getAt(root, path)
  if (action.kind === 'item')
    return Array.isArray(here) && here.some((entry) => entryKind(entry) === entryKind(action.entry))
  if (action.kind === 'order') {
    const kinds = Array.isArray(here) ? namesOf(here) : []
    const found = Object.entries(action.orders).find(([, order]) => {
      const present = order.filter((kind) => kinds.includes(kind))
      return isDeepStrictEqual(
        present,
        kinds.filter((kind) => order.includes(kind)),
      )
    })
    return found?.[0]
  }
  if (action.values === undefined) return here === undefined ? undefined : (here as KnobValue) // checked when it is used
  const [text] =
    Object.entries(action.values).find(([, value]) => isDeepStrictEqual(value ?? undefined, here)) ??
    (here === undefined ? [] : [String(here)])
  if (text === undefined || spec.kind !== 'choice') return undefined
  return spec.values.find((value) => String(value) === text)
}

function acted(root: Mapping, { action }: EditKnob, value: KnobValue): Mapping | string {
  if (action.kind === 'set') {
    const path = pathOfName(root, action.path)
    if (path === undefined) return `${action.path} is not there`
    const has = action.values !== undefined && Object.hasOwn(action.values, String(value))
    return putAt(root, path, has ? (action.values?.[String(value)] ?? undefined) : value)
  }
  const path = pathOfName(root, action.path)
  if (path === undefined) return `${action.path} is not there`
  const here = getAt(root, path)
  const list: readonly unknown[] = Array.isArray(here) ? here : []
  if (action.kind === 'item') {
    const kind = entryKind(action.entry) ?? ''
    const at = indexOfKind(list, kind)
    if (value !== true) return at === undefined ? root : putAt(root, path, list.toSpliced(at, 1))
    if (at !== undefined) return root
    const before = action.before === undefined ? undefined : indexOfKind(list, action.before)
    const place = Math.max(before ?? (action.before === undefined ? list.length : 0), upToSplit(list).length)
    return putAt(root, path, list.toSpliced(place, 0, action.entry))
  }
  const order = action.orders[String(value)] ?? []
  const names = namesOf(list)
  const places = names.flatMap((name, at) => (order.includes(name) ? [at] : []))
  const sorted = order.flatMap((name) => (names.includes(name) ? [list[names.indexOf(name)]] : []))
  const moved = list.map((entry, at) => (places.includes(at) ? sorted[places.indexOf(at)] : entry))
  return putAt(root, path, moved)
}

function takenOut(root: Mapping, { action }: EditKnob): Mapping {
  const path = pathOfName(root, action.path)
  return path === undefined || getAt(root, path) === undefined ? root : putAt(root, path, undefined)
}

// Points without a model of their scores: any point, and those one step from another. Both follow from their draws alone.
/** A point anywhere in the space. */
export function sampleKnobs(catalog: EditCatalog, random: Random): Knobs {
  const drawn = Object.entries(catalog.knobs).map(([name, { spec }]) => [name, drawValue(spec, random)] as const)
  return settledKnobs(Object.fromEntries(drawn), catalog)
}

/** Every point that differs in one knob that has an effect, and there by one step. */
export function neighbourKnobs(catalog: EditCatalog, knobs: Knobs): Knobs[] {
  const own = settledKnobs(knobs, catalog)
  return Object.entries(catalog.knobs).flatMap(([name, knob]) => {
    const value = own[name]
    if (value === undefined || !isActive(knob, own)) return []
    return stepsFrom(knob, value).map((next) => settledKnobs({ ...own, [name]: next }, catalog))
  })
}

function drawValue(spec: KnobSpec, random: Random): KnobValue {
  if (spec.kind === 'choice') return spec.values[random.int(spec.values.length)] ?? ''
  return valueAt(spec, random.float())
}

type Range = Extract<KnobSpec, { kind: 'range' }>

/** The value at a share of a range: whole where it has to be, others with as many digits as a person would write. */
function valueAt(spec: Range, share: number): number {
  const { low, high, log, integer } = spec
  const raw = log ? Math.exp(Math.log(low) + share * (Math.log(high) - Math.log(low))) : low + share * (high - low)
  const value = integer ? Math.round(raw) : Number(raw.toPrecision(3))
  return Math.min(high, Math.max(low, value))
}

function shareOf({ low, high, log }: Range, value: number): number {
  if (!(high > low)) return 0
  return log ? (Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low)) : (value - low) / (high - low)
}

/** Share of a range that one step goes. */
const stepShare = 0.15

function stepsFrom({ spec }: EditKnob, value: KnobValue): KnobValue[] {
  if (spec.kind === 'choice') {
    const at = spec.values.indexOf(value)
    if (!spec.ordered) return spec.values.filter((each) => each !== value)
    return [spec.values[at - 1], spec.values[at + 1]].filter((each) => each !== undefined)
  }
  if (typeof value !== 'number') return []
  const share = shareOf(spec, value)
  const near = [share - stepShare, share + stepShare].map((each) => valueAt(spec, Math.min(1, Math.max(0, each))))
  // A whole number moves by one where a step of the range is less than that.
  const whole = spec.integer ? [Math.max(spec.low, value - 1), Math.min(spec.high, value + 1)] : []
  const all = near.map((each, i) => (each === value ? (whole[i] ?? each) : each))
  return [...new Set(all)].filter((each) => each !== value)
}
