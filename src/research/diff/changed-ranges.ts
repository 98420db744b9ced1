// Where two lists of lines differ: the shortest edit by the greedy algorithm of Myers (1986). Very different texts are one change:
// nobody reads the shortest way between them, and it would take too long to find.

/** Lines `aFrom` to before `aTo` became lines `bFrom` to before `bTo`. */
export interface ChangedRange {
  readonly aFrom: number
  readonly aTo: number
  readonly bFrom: number
  readonly bTo: number
}

/** Edits beyond this many lines are not searched for. */
const mostEdits = 2_000

export function changedRanges(a: readonly string[], b: readonly string[]): ChangedRange[] {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let aEnd = a.length
  let bEnd = b.length
  while (aEnd > start && bEnd > start && a[aEnd - 1] === b[bEnd - 1]) {
    aEnd--
    bEnd--
  }
  if (start === aEnd && start === bEnd) return []
  const matches = longestMatches(a.slice(start, aEnd), b.slice(start, bEnd))
  if (matches === undefined) return [{ aFrom: start, aTo: aEnd, bFrom: start, bTo: bEnd }]
  const ranges: ChangedRange[] = []
  let [aFrom, bFrom] = [start, start]
  for (const [x, y] of [...matches.map(([x, y]) => [x + start, y + start] as const), [aEnd, bEnd] as const]) {
    if (x > aFrom || y > bFrom) ranges.push({ aFrom, aTo: x, bFrom, bTo: y })
    aFrom = x + 1
    bFrom = y + 1
  }
  return ranges
}

// Pairs of equal lines, in order. Furthest reach on every diagonal after d edits; the trace of reaches leads back.
function longestMatches(a: readonly string[], b: readonly string[]): (readonly [number, number])[] | undefined {
  const trace: Map<number, number>[] = []
  let reach = new Map([[1, 0]])
  for (let d = 0; d <= Math.min(mostEdits, a.length + b.length); d++) {
    trace.push(reach)
    const next = new Map<number, number>()
    for (let k = -d; k <= d; k += 2) {
      let x = comesFromAbove(reach, k, d) ? (reach.get(k + 1) ?? 0) : (reach.get(k - 1) ?? 0) + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++
      next.set(k, x)
      if (x >= a.length && x - k >= b.length) return walkBack(trace, a.length, b.length)
    }
    reach = next
  }
  return undefined
}

function comesFromAbove(reach: ReadonlyMap<number, number>, k: number, d: number): boolean {
  return k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1))
}

function walkBack(trace: readonly Map<number, number>[], aLength: number, bLength: number): [number, number][] {
  const matches: [number, number][] = []
  let [x, y] = [aLength, bLength]
  for (let d = trace.length - 1; d >= 0; d--) {
    const reach = trace[d] ?? new Map<number, number>()
    const k = x - y
    const before = comesFromAbove(reach, k, d) ? k + 1 : k - 1
    const fromX = d === 0 ? 0 : (reach.get(before) ?? 0)
    const fromY = d === 0 ? 0 : fromX - before
    while (x > fromX && y > fromY) matches.push([--x, --y])
    ;[x, y] = [fromX, fromY]
  }
  return matches.reverse()
}
