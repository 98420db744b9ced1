// Turns a document by its catalogue, with the comments and the layout of what stays.
import { type Document, isMap, isScalar, isSeq, parseDocument, type YAMLMap } from 'yaml'
import type {
  AttemptFailure,
  CandidateFiles,
  EditKnob,
  KnobSpec,
  Knobs,
  KnobValue,
  ResearchBlock,
} from '../../contracts/index.ts'
import { canonicalJson, isMapping } from '../../kernel/index.ts'
import type { DocumentEdits } from './edits/contract.ts'

const RUN_KEYS = ['data', 'mix', 'model', 'algorithm', 'agent', 'environment', 'plugins']

function open(files: CandidateFiles, document: string): Document {
  return parseDocument(files[document] ?? '')
}

/** Where the parts of the run stand: under `run`, or at the root. */
function prefix(doc: Document): string[] {
  return isMap(doc.get('run')) ? ['run'] : []
}

function keys(path: string): (string | number)[] {
  return path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part))
}

function kindOf(node: unknown): unknown {
  return isMap(node) ? node.get('kind') : isScalar(node) ? node.value : undefined
}

function standing(doc: Document, { action, value: usual, spec }: EditKnob): KnobValue {
  const fallback = usual ?? (spec.kind === 'range' ? spec.low : (spec.values[0] ?? ''))
  const at = [...prefix(doc), ...keys(action.path)]
  if (action.kind === 'set') {
    const node: unknown = doc.getIn(at)
    const plain = isMap(node) || isSeq(node) ? node.toJSON() : node
    if (action.values !== undefined) {
      const found = Object.entries(action.values).find(
        ([, written]) => canonicalJson(written) === canonicalJson(plain ?? null),
      )
      return found === undefined ? fallback : labelled(spec, found[0])
    }
    return typeof plain === 'number' || typeof plain === 'string' || typeof plain === 'boolean' ? plain : fallback
  }
  const list = doc.getIn(at)
  const items = isSeq(list) ? list.items : []
  if (action.kind === 'item') {
    const kind = isMapping(action.entry) ? action.entry.kind : undefined
    return items.some((item) => kindOf(item) === kind)
  }
  const now = items.map(kindOf)
  const found = Object.entries(action.orders).find(
    ([, kinds]) => canonicalJson(kinds) === canonicalJson(now.filter((kind) => kinds.includes(String(kind)))),
  )
  return found?.[0] ?? fallback
}

function labelled(spec: KnobSpec, label: string): KnobValue {
  return spec.kind === 'choice' ? (spec.values.find((value) => String(value) === label) ?? label) : label
}

function turn(doc: Document, { action }: EditKnob, value: KnobValue): void {
  const at = [...prefix(doc), ...keys(action.path)]
  if (action.kind === 'set') {
    const written = action.values === undefined ? value : action.values[String(value)]
    if (written === null || written === undefined) doc.deleteIn(at)
    else doc.setIn(at, written)
    return
  }
  const list = doc.getIn(at)
  if (action.kind === 'item') {
    const kind = isMapping(action.entry) ? action.entry.kind : undefined
    if (value === true) {
      const node = doc.createNode(action.entry, { flow: true })
      if (!isSeq(list)) {
        doc.setIn(at, [action.entry])
        return
      }
      const place = action.before === undefined ? -1 : list.items.findIndex((item) => kindOf(item) === action.before)
      list.items.splice(place < 0 ? list.items.length : place, 0, node)
    } else if (isSeq(list)) list.items = list.items.filter((item) => kindOf(item) !== kind)
    return
  }
  const kinds = action.orders[String(value)]
  if (!isSeq(list) || kinds === undefined) return
  list.items.sort((a, b) => kinds.indexOf(String(kindOf(a))) - kinds.indexOf(String(kindOf(b))))
}

function fits({ spec }: EditKnob, value: KnobValue): boolean {
  if (spec.kind === 'choice') return spec.values.includes(value)
  return (
    typeof value === 'number' && value >= spec.low && value <= spec.high && (!spec.integer || Number.isInteger(value))
  )
}

export const plainEdits: DocumentEdits = {
  deriveCatalog({ files, document, block, schemaOf }) {
    const doc = open(files, document)
    const knobs: Record<string, EditKnob> = {}
    const isOff = (path: string) => block.off_limits.some((off) => path === off || path.startsWith(`${off}.`))
    for (const [path, written] of Object.entries(block.space)) {
      if (isOff(path)) continue
      knobs[path] = Array.isArray(written)
        ? listKnob(path, written)
        : { spec: written as KnobSpec, action: { kind: 'set', path } }
    }
    for (const entry of block.transforms) {
      if (isOff('data.transforms')) continue
      knobs[`data.transforms.${entry.kind}`] = {
        spec: { kind: 'choice', values: [false, true], ordered: false },
        action: { kind: 'item', path: 'data.transforms', entry, before: firstKind(doc) },
      }
    }
    void schemaOf
    return { catalog: { document, knobs }, problems: [] }
  },
  readKnobs(files, catalog) {
    const doc = open(files, catalog.document)
    return Object.fromEntries(Object.entries(catalog.knobs).map(([name, knob]) => [name, standing(doc, knob)]))
  },
  turnKnobs(files, turned, catalog) {
    const doc = open(files, catalog.document)
    const problems: string[] = []
    for (const [name, value] of Object.entries(turned)) {
      const knob = catalog.knobs[name]
      if (knob === undefined)
        problems.push(`no knob is called ${name}. Known: ${Object.keys(catalog.knobs).join(', ')}`)
      else if (!fits(knob, value)) problems.push(`${name} cannot be ${JSON.stringify(value)}`)
      else if (standing(doc, knob) !== value) turn(doc, knob, value)
    }
    if (problems.length > 0) return { problems }
    return { files: { ...files, [catalog.document]: doc.toString({ lineWidth: 0 }) } }
  },
  forbiddenChanges({ before, after, document, offLimits }) {
    const was = judged(open(before, document).toJSON())
    const is = judged(open(after, document).toJSON())
    const changed = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter(
      (key) => canonicalJson(was[key] ?? null) !== canonicalJson(is[key] ?? null),
    )
    const off = offLimits.filter((path) => {
      const read = (files: CandidateFiles) => {
        const doc = open(files, document)
        const node: unknown = doc.getIn([...prefix(doc), ...keys(path)])
        return canonicalJson((isMap(node) || isSeq(node) ? node.toJSON() : node) ?? null)
      }
      return read(before) !== read(after)
    })
    return [...changed, ...off].map(
      (what): AttemptFailure => ({ class: 'tamper', reason: `it changes ${what}, which no candidate may` }),
    )
  },
  canonicalDocument: (text) => parseDocument(text).toJSON(),
}

/** All but what a run may be made of. */
function judged(document: unknown): Record<string, unknown> {
  if (!isMapping(document)) return { document }
  const { run, ...rest } = document
  const outside = Object.fromEntries(Object.entries(rest).filter(([key]) => !RUN_KEYS.includes(key)))
  const inside = isMapping(run) ? Object.entries(run).filter(([key]) => !RUN_KEYS.includes(key)) : []
  return { ...outside, ...Object.fromEntries(inside.map(([key, value]) => [`run.${key}`, value])) }
}

function listKnob(path: string, values: readonly unknown[]): EditKnob {
  const isPlain = values.every(
    (value) => typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean',
  )
  if (isPlain) {
    const plain = values as KnobValue[]
    return {
      spec: { kind: 'choice', values: plain, ordered: plain.every((value) => typeof value === 'number') },
      action: { kind: 'set', path },
    }
  }
  const labels = values.map((value, i) => (value === null ? 'none' : `${i}`))
  return {
    spec: { kind: 'choice', values: labels, ordered: false },
    action: { kind: 'set', path, values: Object.fromEntries(labels.map((label, i) => [label, values[i]])) },
  }
}

function firstKind(doc: Document): string | undefined {
  const list = doc.getIn([...prefix(doc), 'data', 'transforms']) as YAMLMap | undefined
  const [first] = isSeq(list) ? list.items : []
  const kind = kindOf(first)
  return typeof kind === 'string' ? kind : undefined
}

export type { Knobs, ResearchBlock }
