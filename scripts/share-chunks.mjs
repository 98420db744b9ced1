// Which chunk each module goes into. Every process loads a set of modules, and a chunk for every such set would be hundreds of small
// files: finding, reading and linking a file costs as much as some kilobytes of code. So modules that the same starts load stand
// together, and two such groups become one wherever the files that are saved cost more than the code that is then loaded in vain.

/** What one more file costs a start, in bytes of code: 0.7 ms against 80 ms for a megabyte, measured on Node 20. */
const FILE_BYTES = 9000

/**
 * @typedef {{ id: string, bytes: number, imports: readonly string[], isPackage: boolean }} Module
 * @typedef {{ starts: Set<number>, bytes: number, ids: string[], to: Set<Group>, isPackage: boolean }} Group
 */

/**
 * The name of the chunk for each module that several starts load, packages apart: these have chunks of their own.
 * @param {ReadonlyMap<string, Module>} modules
 * @param {readonly { id: string, weight: number }[]} starts modules that are started or imported by themselves, with how often
 * @returns {Map<string, string>}
 */
export function shareChunks(modules, starts) {
  const weights = starts.map(({ weight }) => weight)
  const groups = [...mergeGroups(groupsOf(modules, starts), weights)].filter(({ isPackage }) => !isPackage)
  return new Map(groups.flatMap(({ ids }, i) => ids.map((id) => [id, `shared-${i}`])))
}

/**
 * Modules by the starts that load them. What one start loads alone stays with it.
 * @param {ReadonlyMap<string, Module>} modules
 * @param {readonly { id: string }[]} starts
 */
function groupsOf(modules, starts) {
  /** @type {Map<string, Set<number>>} */
  const startsOf = new Map([...modules.keys()].map((id) => [id, new Set()]))
  for (const [i, { id: start }] of starts.entries()) {
    const reached = new Set([start])
    for (const id of reached) {
      startsOf.get(id)?.add(i)
      for (const each of modules.get(id)?.imports ?? []) reached.add(each)
    }
  }
  /** @type {Map<string, Group>} */
  const groups = new Map()
  /** @type {Map<string, Group>} */
  const groupOf = new Map()
  for (const { id, bytes, isPackage } of modules.values()) {
    const loadedBy = startsOf.get(id) ?? new Set()
    if (loadedBy.size < 2) continue
    const key = `${isPackage} ${[...loadedBy].join()}`
    const group = groups.get(key) ?? { starts: loadedBy, bytes: 0, ids: [], to: new Set(), isPackage }
    groups.set(key, group)
    group.bytes += bytes
    group.ids.push(id)
    groupOf.set(id, group)
  }
  for (const { id, imports } of modules.values()) {
    for (const each of imports) {
      const [from, to] = [groupOf.get(id), groupOf.get(each)]
      if (from !== undefined && to !== undefined && from !== to) from.to.add(to)
    }
  }
  return new Set(groups.values())
}

/**
 * Joins the two groups that save most by it, again and again, while any do.
 * @param {Set<Group>} groups
 * @param {readonly number[]} weights
 */
function mergeGroups(groups, weights) {
  const weightOf = (/** @type {number} */ start) => weights[start] ?? 0

  /** What is saved at most: files that need not be read, less the code of the two that is loaded in vain. @param {Group} a @param {Group} b */
  function atMost(a, b) {
    let sum = 0
    for (const start of a.starts) sum += weightOf(start) * (b.starts.has(start) ? FILE_BYTES : -b.bytes)
    for (const start of b.starts) if (!a.starts.has(start)) sum -= weightOf(start) * a.bytes
    return sum
  }

  /** The same less all that the two lead to. @param {Group} a @param {Group} b */
  function saved(a, b) {
    let sum = atMost(a, b)
    for (const group of reachedFrom(a, b)) {
      for (const [one, other] of [
        [a, b],
        [b, a],
      ])
        for (const start of one?.starts ?? [])
          if (!other?.starts.has(start) && !group.starts.has(start)) sum -= weightOf(start) * (group.bytes + FILE_BYTES)
    }
    return sum
  }

  /** @type {{ a: Group, b: Group, gain: number, isExact: boolean }[]} */
  let pairs = []
  const consider = (/** @type {Group} */ a, /** @type {Iterable<Group>} */ others) => {
    for (const b of others) {
      const gain = a === b || a.isPackage || b.isPackage ? 0 : atMost(a, b)
      if (gain > 0) pairs.push({ a, b, gain, isExact: false })
    }
  }
  for (const [i, group] of [...groups].entries()) consider(group, [...groups].slice(0, i))
  while (pairs.length > 0) {
    const best = pairs.reduce((most, pair) => (pair.gain > most.gain ? pair : most))
    const { a, b } = best
    if (!best.isExact) {
      best.isExact = true
      best.gain = wouldCircle(a, b) ? 0 : saved(a, b)
      if (best.gain <= 0) pairs = pairs.filter((pair) => pair !== best)
      continue
    }
    const merged = joined(a, b)
    for (const each of reachedFrom(a, b)) each.starts = new Set([...each.starts, ...merged.starts])
    groups.delete(a)
    groups.delete(b)
    for (const { to } of groups) if ([a, b].filter((each) => to.delete(each)).length > 0) to.add(merged)
    pairs = pairs.filter((pair) => ![pair.a, pair.b].some((each) => each === a || each === b))
    consider(merged, groups)
    groups.add(merged)
  }
  return groups
}

/** The groups that two lead to, without these. @param {Group} a @param {Group} b */
function reachedFrom(a, b) {
  const reached = new Set([...a.to, ...b.to])
  for (const { to } of reached) for (const each of to) reached.add(each)
  reached.delete(a)
  reached.delete(b)
  return reached
}

/** @param {Group} a @param {Group} b @returns {Group} */
function joined(a, b) {
  const to = new Set([...a.to, ...b.to])
  to.delete(a)
  to.delete(b)
  return {
    starts: new Set([...a.starts, ...b.starts]),
    bytes: a.bytes + b.bytes,
    ids: [...a.ids, ...b.ids],
    to,
    isPackage: false,
  }
}

/**
 * Whether one of the groups leads to the other through a third: chunks that import each other run in an order that nobody chose.
 * @param {Group} a
 * @param {Group} b
 */
function wouldCircle(a, b) {
  return leadsThroughThird(a, b) || leadsThroughThird(b, a)
}

/** @param {Group} from @param {Group} to */
function leadsThroughThird(from, to) {
  const reached = new Set([...from.to].filter((each) => each !== to))
  for (const each of reached) {
    if (each.to.has(to)) return true
    for (const next of each.to) reached.add(next)
  }
  return false
}
