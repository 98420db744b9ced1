// What became of a document as typed edits: applied to what was before, they give what came after. Whatever no edit can say is named.
import { isDeepStrictEqual } from 'node:util'
import { formatPath } from '../../../config/index.ts'
import type { CandidateFiles, ExperimentEdit } from '../../../contracts/index.ts'
import { isMapping } from '../../../kernel/index.ts'
import { alignItems } from './align-items.ts'
import { changedValue, documentValue } from './apply-edits.ts'
import {
  type At,
  dataBlocks,
  getAt,
  kindOf,
  type Mapping,
  type Path,
  paramsOf,
  partPath,
  recipes,
  stagesOf,
} from './places.ts'

/** The edits between two versions of a candidate. `rest`: whether something else changed as well, which no edit says. */
export function diffEdits(
  before: CandidateFiles,
  after: CandidateFiles,
  document: string,
): { readonly edits: readonly ExperimentEdit[]; readonly rest: boolean } {
  const [old, now] = [documentValue(before, document), documentValue(after, document)]
  const edits = [...fileEdits(before, after, document), ...valueEdits(old, now)]
  const reached = edits.reduce<Mapping | string>((root, edit) => {
    return typeof root === 'string' ? root : changedValue(root, edit)
  }, old)
  return { edits, rest: !isDeepStrictEqual(reached, now) }
}

function fileEdits(before: CandidateFiles, after: CandidateFiles, document: string): ExperimentEdit[] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return paths.flatMap((path): ExperimentEdit[] => {
    if (path === document || before[path] === after[path]) return []
    return [{ edit: 'write_plugin', role: roleOf(after[path] ?? before[path] ?? ''), path, text: after[path] ?? null }]
  })
}

// By what it defines; a file that defines nothing is part of an algorithm.
function roleOf(text: string): 'transform' | 'algorithm' | 'agent' {
  const [, type] = /\bdefine(Transform|Algorithm|Agent)\b/.exec(text) ?? []
  return type === 'Transform' ? 'transform' : type === 'Agent' ? 'agent' : 'algorithm'
}

function valueEdits(old: Mapping, now: Mapping): ExperimentEdit[] {
  const staged = stageEdits(old, now)
  const root = staged.reduce<Mapping>((value, edit) => {
    const changed = changedValue(value, edit)
    return typeof changed === 'string' ? value : changed
  }, old)
  return [
    ...staged,
    ...recipes(root).flatMap(({ at, path }) => recipeEdits(getAt(root, path), getAt(now, path), at)),
    ...dataBlocks(root).flatMap(({ at, path }) => dataEdits(root, now, path, at)),
    ...agentEdits(getAt(root, partPath(root, 'agent')), getAt(now, partPath(now, 'agent'))),
    ...rendererEdits(root, now),
  ]
}

function stageEdits(old: Mapping, now: Mapping): ExperimentEdit[] {
  const [from, to] = [stagesOf(old), stagesOf(now)]
  if (from === undefined || to === undefined || from.path[0] !== 'stages' || to.path[0] !== 'stages') return []
  const named = (items: readonly unknown[]) =>
    items.map((item) => ({ ...Object(item), name: kindOf(getAt(item, ['algorithm'])) }))
  const places = alignItems(named(from.items), named(to.items))
  if (from.items.length === to.items.length && places.every((place) => place !== undefined)) return []
  const gone = [...from.items.keys()].filter((i) => !places.includes(i)).toReversed()
  const removed = gone.map((at): ExperimentEdit => ({ edit: 'remove_stage', at }))
  const added = places.flatMap((place, at): ExperimentEdit[] => {
    return place === undefined ? [{ edit: 'add_stage', at, value: Object(to.items[at]) }] : []
  })
  // A recipe has one stage at least: what comes is put in before the last one goes.
  const emptied = gone.length === from.items.length
  return emptied ? [...added, ...removed.map((edit) => shifted(edit, added.length))] : [...removed, ...added]
}

function shifted(edit: ExperimentEdit, by: number): ExperimentEdit {
  return edit.edit === 'remove_stage' ? { ...edit, at: edit.at + by } : edit
}

function recipeEdits(old: unknown, now: unknown, at: At): ExperimentEdit[] {
  if (!isMapping(old) || !isMapping(now) || isDeepStrictEqual(old, now)) return []
  const [from, to] = [paramsOf(old), paramsOf(now)]
  const stage = at.stage === undefined ? {} : { stage: at.stage }
  if (kindOf(old) !== kindOf(now)) {
    const changed = keysOf(from, to).filter((key) => !isDeepStrictEqual(from[key], to[key]))
    const params = Object.fromEntries(changed.map((key) => [key, jsonOf(to[key])]))
    return [{ edit: 'set_algorithm', kind: kindOf(now) ?? '', params, ...stage }]
  }
  return paramEdits('algorithm', from, to, stage)
}

type Json = Extract<ExperimentEdit, { edit: 'set_param' }>['value']

// The documents were read from YAML, so that all in them is JSON.
function jsonOf(value: unknown): Json {
  return (value ?? null) as Json
}

function paramEdits(
  of: 'algorithm' | 'agent',
  from: Mapping,
  to: Mapping,
  stage: { stage?: number },
): ExperimentEdit[] {
  return keysOf(from, to).flatMap((key): ExperimentEdit[] => {
    const [old, now] = [from[key], to[key]]
    if (isDeepStrictEqual(old, now)) return []
    const steps =
      isMapping(old) && isMapping(now) && key !== 'teacher' ? keysOf(old, now).map((inner) => [key, inner]) : [[key]]
    return steps.flatMap((path): ExperimentEdit[] => {
      const value = getAt(to, path)
      if (isDeepStrictEqual(getAt(from, path), value)) return []
      return [{ edit: 'set_param', of, param: formatPath(path), value: jsonOf(value), ...stage }]
    })
  })
}

function dataEdits(root: Mapping, now: Mapping, path: Path, { stage, mix }: At): ExperimentEdit[] {
  const at = { ...(stage === undefined ? {} : { stage }), ...(mix === undefined ? {} : { mix }) }
  const [old, wanted] = [getAt(root, path), getAt(now, path)]
  if (isDeepStrictEqual(old, wanted)) return []
  const dataset = getAt(wanted, ['dataset_name'])
  const isOther = typeof dataset === 'string' && dataset !== getAt(old, ['dataset_name'])
  const versions: ExperimentEdit[] = isOther ? [{ edit: 'set_dataset', dataset, ...at }] : []
  const lists = [getAt(old, ['transforms']), getAt(wanted, ['transforms'])].map((list) =>
    Array.isArray(list) ? list : [],
  )
  const [from = [], to = []] = lists
  return [...versions, ...transformEdits(from, to).map((edit) => ({ ...edit, ...at }))]
}

// What is gone goes first; then each place is given what stands there afterwards, moved from behind it where it is there already.
function transformEdits(from: readonly unknown[], to: readonly unknown[]): ExperimentEdit[] {
  const edits: ExperimentEdit[] = []
  const left = [...to]
  const kept = from.map((entry) => {
    const same = left.findIndex((each) => isDeepStrictEqual(each, entry))
    if (same >= 0) left.splice(same, 1)
    return same >= 0
  })
  const current: unknown[] = []
  for (const [i, entry] of from.entries()) {
    const kin = kept[i] ? -1 : left.findIndex((each) => kindOf(each) === kindOf(entry))
    if (kin >= 0) left.splice(kin, 1)
    if (kept[i] || kin >= 0) current.push(entry)
    else edits.push({ edit: 'remove_transform', at: i, kind: kindOf(entry) ?? '' })
  }
  edits.reverse() // from the last one on, places before it stay
  for (const [at, entry] of to.entries()) {
    const kind = kindOf(entry) ?? ''
    if (isDeepStrictEqual(current[at], entry)) continue
    const behind = current.findIndex((each, i) => i >= at && isDeepStrictEqual(each, entry))
    const isFree = (each: unknown, i: number) =>
      i >= at && kindOf(each) === kind && !to.slice(at).some((other) => isDeepStrictEqual(other, each))
    const found = behind >= 0 ? behind : current.findIndex(isFree)
    if (found < 0) {
      edits.push({ edit: 'add_transform', at, kind, params: { ...paramsOf(entry) } })
      current.splice(at, 0, entry)
      continue
    }
    if (found !== at) edits.push({ edit: 'move_transform', from: found, to: at, kind })
    const [own] = current.splice(found, 1)
    current.splice(at, 0, entry)
    const [old, now] = [paramsOf(own), paramsOf(entry)]
    const changed = keysOf(old, now).filter((key) => !isDeepStrictEqual(old[key], now[key]))
    if (changed.length === 0) continue
    const params = Object.fromEntries(changed.map((key) => [key, jsonOf(now[key])]))
    edits.push({ edit: 'set_transform', at, kind, params })
  }
  return edits
}

function agentEdits(old: unknown, now: unknown): ExperimentEdit[] {
  if (isDeepStrictEqual(old, now)) return []
  if (kindOf(old) === undefined || kindOf(old) !== kindOf(now)) {
    return [{ edit: 'set_agent', kind: kindOf(now) ?? null, params: { ...paramsOf(now) } }]
  }
  return paramEdits('agent', paramsOf(old), paramsOf(now), {})
}

function rendererEdits(old: Mapping, now: Mapping): ExperimentEdit[] {
  const [from, to] = [old, now].map((root) => getAt(root, [...partPath(root, 'model'), 'renderer_name']))
  if (from === to || (to !== undefined && typeof to !== 'string')) return []
  return [{ edit: 'set_renderer', renderer: to ?? null }]
}

function keysOf(a: Mapping, b: Mapping): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])]
}
