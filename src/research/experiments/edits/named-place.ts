// Names of places in a run, as knobs, `space` and `off_limits` have them: `algorithm.params.learning_rate`, `stages.1.algorithm.kind`,
// `data.transforms.dedupe.params.key`. An entry of a list is named by its kind, so that it keeps its name where others come or go.
import { parsePath } from '../../../config/index.ts'
import {
  type At,
  algorithmPath,
  dataPath,
  getAt,
  kindOf,
  type Mapping,
  type Path,
  partPath,
  stagesOf,
} from './places.ts'

export interface NamedPlace {
  readonly part: 'algorithm' | 'data' | 'agent' | 'model'
  readonly at: At
  /** Below the part: `params`, `learning_rate`. */
  readonly below: Path
}

/** The place of a name, in the form that does not depend on a document; a text says what is wrong with it. */
export function namedPlace(name: string): NamedPlace | string {
  const parsed = parsePath(name)
  if ('message' in parsed) return parsed.message
  const [head, index, part, ...rest] = parsed.path
  if (head === 'stages' && typeof index === 'number' && (part === 'algorithm' || part === 'data')) {
    return { part, at: { stage: index }, below: rest }
  }
  if (head === 'mix' && typeof index === 'number')
    return { part: 'data', at: { mix: index }, below: parsed.path.slice(2) }
  const below = parsed.path.slice(1)
  if (head === 'algorithm' || head === 'data' || head === 'agent' || head === 'model')
    return { part: head, at: {}, below }
  return 'it is no part of a recipe: algorithm, data, mix, agent, model or a stage of these'
}

/** Where a part stands in a document; a text says why it does not. */
export function placePath(root: Mapping, { part, at }: NamedPlace): Path | string {
  if (part === 'algorithm') return algorithmPath(root, at)
  return part === 'data' ? dataPath(root, at) : partPath(root, part)
}

/** The path of a name in a document, entries of lists by their place; undefined: an entry on the way is not there. */
export function pathOfName(root: Mapping, name: string): Path | undefined {
  if (name === 'stages') {
    const stages = stagesOf(root)
    return stages?.path[0] === 'stages' ? stages.path : undefined
  }
  const place = namedPlace(name)
  const start = typeof place === 'string' ? place : placePath(root, place)
  if (typeof place === 'string' || typeof start === 'string') return undefined
  let path = start
  for (const step of place.below) {
    const here = getAt(root, path)
    const at = Array.isArray(here) && typeof step === 'string' ? indexOfKind(here, step) : step
    if (at === undefined) return undefined
    path = [...path, at]
  }
  return path
}

/** The entry that a list calls so: by its kind, the second of one kind as `dedupe#2`. */
export function indexOfKind(list: readonly unknown[], name: string): number | undefined {
  const names = namesOf(list)
  const at = names.indexOf(name)
  return at < 0 ? undefined : at
}

/** What an entry of a list is called by: a stage by its recipe. */
export function entryKind(entry: unknown): string | undefined {
  return kindOf(entry) ?? kindOf(getAt(entry, ['algorithm']))
}

export function namesOf(list: readonly unknown[]): string[] {
  const counts = new Map<string, number>()
  return list.map((entry) => {
    const kind = entryKind(entry) ?? '?'
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    return count === 1 ? kind : `${kind}#${count}`
  })
}
