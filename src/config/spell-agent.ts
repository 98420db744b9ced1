// `agent: tool_loop` is short for `agent: { kind: tool_loop }`: in a run, a benchmark, or an axis of a matrix.
import { withKey } from './edit-tree.ts'
import { type LocatedMap, mapNode, textOf } from './located.ts'

/** The map with its agent written out. */
export function spellAgent(map: LocatedMap): LocatedMap {
  const agent = map.entries.get('agent')?.value
  if (agent?.type !== 'scalar' || textOf(agent) === undefined) return map
  return withKey(map, 'agent', mapNode([{ key: 'kind', at: agent.origin, value: agent }], agent.origin))
}
