// What a person asked for goes before what a strategy would do: a pinned attempt is the base, banned families are avoided.
import type { SearchRequest, SearchState } from '../../contracts/index.ts'

/** A request of a strategy, with the wishes of the person who steers. */
export function requestFrom(
  { pinned, banned, attempts }: SearchState,
  { parents, mode, ideas, avoidFamilies }: Omit<SearchRequest, 'avoidFamilies'> & Partial<SearchRequest>,
): SearchRequest {
  const held = pinned !== undefined && attempts.some(({ id }) => id === pinned) ? pinned : undefined
  return {
    parents: held === undefined ? parents : [held],
    mode: held !== undefined && mode === 'combine' ? 'improve' : mode,
    ideas,
    avoidFamilies: [...new Set([...banned, ...(avoidFamilies ?? [])])],
  }
}
