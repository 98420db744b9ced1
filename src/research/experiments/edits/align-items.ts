// Which items of a list became which: equal ones in their order first, then those between them that are of one kind.
import { isDeepStrictEqual } from 'node:util'
import { isMapping } from '../../../kernel/index.ts'

/** For every new item the place of the old one that it is, in rising order; undefined: it is new, or it moved. */
export function alignItems(before: readonly unknown[], after: readonly unknown[]): (number | undefined)[] {
  const places = longestCommon(before, after)
  let from = 0
  for (let i = 0; i < after.length; i++) {
    const own = places[i]
    if (own !== undefined) {
      from = own + 1
      continue
    }
    const to = places.slice(i).find((place) => place !== undefined) ?? before.length
    const found = range(from, to).find((at) => isSameKind(before[at], after[i]))
    if (found === undefined) continue
    places[i] = found
    from = found + 1
  }
  return places
}

function longestCommon(before: readonly unknown[], after: readonly unknown[]): (number | undefined)[] {
  const [n, m] = [before.length, after.length]
  const lengths = Array.from({ length: n + 1 }, () => new Int32Array(m + 1))
  const at = (i: number, j: number) => lengths[i]?.[j] ?? 0
  const isSame = before.map((old) => after.map((item) => isDeepStrictEqual(old, item)))
  for (let i = n - 1; i >= 0; i--) {
    for (let j = m - 1; j >= 0; j--) {
      const row = lengths[i] as Int32Array // one row per old item
      row[j] = isSame[i]?.[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const places = new Array<number | undefined>(m).fill(undefined)
  for (let i = 0, j = 0; i < n && j < m; ) {
    if (isSame[i]?.[j]) places[j++] = i++
    else if (at(i + 1, j) >= at(i, j + 1)) i++
    else j++
  }
  return places
}

// Entries of lists in experiments are distinguished by their kind; plain values by their place alone.
function isSameKind(before: unknown, after: unknown): boolean {
  if (!isMapping(before) || !isMapping(after))
    return typeof before === typeof after && !isMapping(before) && !isMapping(after)
  const kind = (each: Readonly<Record<string, unknown>>) => each.kind ?? each.name
  return kind(before) === kind(after)
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i)
}
