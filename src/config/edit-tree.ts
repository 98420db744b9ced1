// Changes to a located tree. Each gives a new tree that shares everything it did not touch.
import {
  childOf,
  impliedOrigin,
  isNull,
  type LocatedEntry,
  type LocatedMap,
  type LocatedNode,
  mapNode,
  type Origin,
  type Path,
  type Step,
  seqNode,
  textOf,
} from './located.ts'

/** `map` with `value` under `key`. The key keeps its place among the others, and its origin unless a new one is given. */
export function withKey(map: LocatedMap, key: string, value: LocatedNode, at?: Origin): LocatedMap {
  const entries = new Map(map.entries)
  entries.set(key, { key, at: at ?? map.entries.get(key)?.at ?? impliedOrigin(map.origin, key), value })
  return { ...map, entries }
}

export function withoutKey(map: LocatedMap, ...keys: readonly string[]): LocatedMap {
  if (!keys.some((key) => map.entries.has(key))) return map
  const entries = new Map(map.entries)
  for (const key of keys) entries.delete(key)
  return { ...map, entries }
}

/** Why a value cannot be put at a path: what stands in its way, and the steps that could not be taken. */
interface Obstacle {
  readonly path: Path
  readonly at: LocatedNode
}

/** `root` with `value` at `path`; mappings that are missing on the way are made. `keyAt` is where the path was written. */
export function withValueAt(
  root: LocatedNode,
  path: Path,
  value: LocatedNode,
  keyAt: Origin,
): { node: LocatedNode } | { obstacle: Obstacle } {
  const [step, ...rest] = path
  if (step === undefined) return { node: value }
  if (root.type === 'scalar') return { obstacle: { path, at: root } }
  const index = root.type === 'seq' ? indexOf(root.items.length, step) : undefined
  if (root.type === 'seq' && index === undefined) return { obstacle: { path, at: root } }
  const old = childOf(root, index ?? step)
  const below =
    old === undefined || (isNull(old) && rest.length > 0) ? empty(rest[0], impliedOrigin(root.origin, step)) : old
  const changed = withValueAt(below, rest, value, keyAt)
  if ('obstacle' in changed) return changed
  if (root.type === 'map')
    return { node: withKey(root, String(step), changed.node, old === undefined ? keyAt : undefined) }
  const items = [...root.items]
  items[index ?? 0] = changed.node
  return { node: seqNode(items, root.origin) }
}

// What an index leads into is a list.
function empty(next: Step | undefined, origin: Origin): LocatedNode {
  return typeof next === 'number' ? seqNode([], origin) : mapNode([], origin)
}

// A list can be changed inside and grown by one at its end; it never gets holes.
function indexOf(length: number, step: Step): number | undefined {
  const index = typeof step === 'number' ? step : /^\d+$/.test(step) ? Number(step) : undefined
  return index !== undefined && index <= length ? index : undefined
}

/** `over` laid over `base`: mappings merge, everything else is replaced, `null` removes what `base` has. */
export function mergeNodes(base: LocatedNode, over: LocatedNode): LocatedNode {
  if (base.type !== 'map' || over.type !== 'map') return over
  const entries = new Map<string, LocatedEntry>(base.entries)
  for (const entry of over.entries.values()) {
    const old = base.entries.get(entry.key)
    if (old === undefined) entries.set(entry.key, entry)
    else if (isNull(entry.value)) entries.delete(entry.key)
    else entries.set(entry.key, { ...entry, value: mergeNodes(old.value, entry.value) })
  }
  return { type: 'map', origin: over.origin, entries }
}

// `agent: tool_loop` is short for `agent: { kind: tool_loop }`, and so it is with `environment`: in a run, a benchmark, or an axis of a
// matrix.
export function spellAgent(map: LocatedMap): LocatedMap {
  return spell(spell(map, 'agent'), 'environment')
}

function spell(map: LocatedMap, key: string): LocatedMap {
  const named = map.entries.get(key)?.value
  if (named?.type !== 'scalar' || textOf(named) === undefined) return map
  return withKey(map, key, mapNode([{ key: 'kind', at: named.origin, value: named }], named.origin))
}
