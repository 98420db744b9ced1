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

/** What stands in the way of a value, and the steps that lead there. */
interface Obstacle {
  readonly at: LocatedNode
  readonly reached: Path
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
  const index = root.type === 'seq' ? indexOf(root.items.length, step) : undefined
  if (root.type === 'scalar' || (root.type === 'seq' && index === undefined)) {
    return { obstacle: { at: root, reached: [] } }
  }
  const old = childOf(root, index ?? step)
  const below =
    old === undefined || (isNull(old) && rest.length > 0) ? empty(rest[0], impliedOrigin(root.origin, step)) : old
  const changed = withValueAt(below, rest, value, keyAt)
  if ('obstacle' in changed) {
    return { obstacle: { ...changed.obstacle, reached: [step, ...changed.obstacle.reached] } }
  }
  if (root.type === 'map')
    return { node: withKey(root, String(step), changed.node, old === undefined ? keyAt : undefined) }
  const items = [...root.items]
  items[index ?? 0] = changed.node
  return { node: seqNode(items, root.origin) }
}

/** The same for a mapping; it stays as it is where something stands in the way. */
export function putAt(root: LocatedMap, path: Path, value: LocatedNode, keyAt: Origin): LocatedMap {
  const changed = withValueAt(root, path, value, keyAt)
  return 'node' in changed && changed.node.type === 'map' ? changed.node : root
}

/** `node` with what stands at `path` changed, where something does; `*` leads to every item of a list. */
export function changeAt<N extends LocatedNode>(
  node: N,
  path: readonly string[],
  change: (node: LocatedNode) => LocatedNode,
): N
export function changeAt(
  node: LocatedNode,
  [step, ...rest]: readonly string[],
  change: (node: LocatedNode) => LocatedNode,
): LocatedNode {
  if (step === undefined) return change(node)
  if (node.type === 'seq' && step === '*') {
    const items = node.items.map((item) => changeAt(item, rest, change))
    return items.every((item, i) => item === node.items[i]) ? node : seqNode(items, node.origin)
  }
  const child = node.type === 'map' ? node.entries.get(step)?.value : undefined
  if (node.type !== 'map' || child === undefined) return node
  const changed = changeAt(child, rest, change)
  return changed === child ? node : withKey(node, step, changed)
}

/** The same for mappings: anything else at `path` stays, for validation to refuse. */
export function changeMap<N extends LocatedNode>(
  node: N,
  path: readonly string[],
  change: (map: LocatedMap) => LocatedNode,
): N {
  return changeAt(node, path, (each) => (each.type === 'map' ? change(each) : each))
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
  const spell = (named: LocatedNode) =>
    textOf(named) === undefined ? named : mapNode([{ key: 'kind', at: named.origin, value: named }], named.origin)
  return changeAt(changeAt(map, ['agent'], spell), ['environment'], spell)
}
