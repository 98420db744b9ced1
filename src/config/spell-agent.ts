// `agent: tool_loop` is short for `agent: { kind: tool_loop }`, and so it is with `environment`: in a run, a benchmark, or an axis of a
// matrix.
import { withKey } from './edit-tree.ts'
import { type LocatedMap, mapNode, textOf } from './located.ts'

/** The map with its agent and its environment written out. */
export function spellAgent(map: LocatedMap): LocatedMap {
  return spell(spell(map, 'agent'), 'environment')
}

function spell(map: LocatedMap, key: string): LocatedMap {
  const named = map.entries.get(key)?.value
  if (named?.type !== 'scalar' || textOf(named) === undefined) return map
  return withKey(map, key, mapNode([{ key: 'kind', at: named.origin, value: named }], named.origin))
}
