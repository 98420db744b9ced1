// The way from the baseline to what a session ended with, step by step. A step is what its race measured: the incumbent of the time
// against the one that took its place, whatever candidate the idea was written on.
import type { CandidateFiles } from '../../contracts/index.ts'
import { type ChangedRange, changedRanges, DIFF_CONTEXT, linesOf, textOf } from '../../research/index.ts'
import type { ReportedAttempt, ResearchReportInput } from '../input/report-input.ts'

interface StepsToBest {
  readonly steps: readonly OrderedChange[]
  /** Kept changes that an ablation showed to be dead weight, and that are in none of the steps. */
  readonly dropped: readonly string[]
}

/** `best`: id of the attempt that the session ended with; absent: nothing was kept. */
export function stepsToBest({ attempts, succession }: ResearchReportInput, best: string | undefined): StepsToBest {
  const byId = new Map(attempts.map((each) => [each.attempt.id, each]))
  const baseline = attempts.find(({ attempt }) => attempt.number === 0)
  const start = baseline?.files
  if (best === undefined || start === undefined) return { steps: [], dropped: [] }
  const kept = attempts.filter(({ attempt: { verdict } }) => verdict === 'provisional' || verdict === 'confirmed')
  const chain = lastingSuccession(succession ?? kept.map(({ attempt }) => attempt.id), best).flatMap((id) => {
    const found = byId.get(id)
    return found === undefined || found === baseline ? [] : [found]
  })
  return withoutDeadWeight(changesOf(start, chain), { byId, start })
}

// A person may take an incumbent away: then the one before it is the incumbent again, and those between are no steps.
function lastingSuccession(succession: readonly string[], best: string): string[] {
  const chain: string[] = []
  for (const id of succession) {
    const known = chain.indexOf(id)
    if (known >= 0) chain.splice(known + 1)
    else chain.push(id)
  }
  const end = chain.indexOf(best)
  return end < 0 ? [...chain, best] : chain.slice(0, end + 1)
}

function changesOf(start: CandidateFiles, chain: readonly ReportedAttempt[]): OrderedChange[] {
  let before = start
  return chain.flatMap(({ attempt, files }, i) => {
    if (files === undefined) return []
    const change = { before, after: files }
    before = files
    return [{ id: attempt.id, builtOn: chain.slice(0, i).map((each) => each.attempt.id), change }]
  })
}

// A change and the step that took it out again cancel, where what is left still leads to the same files.
function withoutDeadWeight(
  all: readonly OrderedChange[],
  { byId, start }: { byId: ReadonlyMap<string, ReportedAttempt>; start: CandidateFiles },
): StepsToBest {
  const end = all.at(-1)?.change.after
  return all.reduce<StepsToBest>(
    ({ steps, dropped }, { id }) => {
      const attempt = byId.get(id)?.attempt
      const taken = attempt?.mode === 'ablate' ? attempt.parents[1] : undefined
      if (taken === undefined || !steps.some((step) => step.id === taken)) return { steps, dropped }
      const gone = new Set([id, taken])
      const left = steps
        .filter((step) => !gone.has(step.id))
        .map((step) => ({ ...step, builtOn: step.builtOn.filter((each) => !gone.has(each)) }))
      return end !== undefined && isEqual(made(start, left), end)
        ? { steps: left, dropped: [...dropped, taken] }
        : { steps, dropped }
    },
    { steps: all, dropped: [] },
  )
}

/** The baseline with all of the steps; undefined: one of them does not fit. */
function made(start: CandidateFiles, steps: readonly OrderedChange[]): CandidateFiles | undefined {
  return steps.reduce<CandidateFiles | undefined>(
    (files, { change }) => (files === undefined ? undefined : transplant(change, files)),
    start,
  )
}

export function isEqual(a: CandidateFiles | undefined, b: CandidateFiles): boolean {
  if (a === undefined) return false
  const paths = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...paths].every((path) => a[path] === b[path])
}

// Which kept changes stand alone, and which need others first. Changes are given in the order in which they were kept.
interface OrderedChange {
  readonly id: string
  /** Its base was made by these, directly or not, in their order. */
  readonly builtOn: readonly string[]
  readonly change: FileChange
}

interface PlacedChange {
  readonly id: string
  /** Changes that must be made first, in their order; empty: it applies to the baseline. */
  readonly needs: readonly string[]
  /** The baseline with what it needs, and that with the change. */
  readonly before: CandidateFiles
  readonly after: CandidateFiles
}

/** Every change with the fewest others that it needs: no one of them can be left out. */
export function independentChanges(baseline: CandidateFiles, changes: readonly OrderedChange[]): PlacedChange[] {
  const byId = new Map(changes.map((change) => [change.id, change]))
  const stack = (ids: readonly string[]) =>
    ids.reduce<CandidateFiles | undefined>((files, id) => {
      const own = byId.get(id)
      return files === undefined || own === undefined ? undefined : transplant(own.change, files)
    }, baseline)
  return changes.map(({ id, builtOn, change }) => {
    let needs = builtOn.filter((each) => byId.has(each))
    const fits = (ids: readonly string[]) => {
      const before = stack(ids)
      const after = before === undefined ? undefined : transplant(change, before)
      return before === undefined || after === undefined ? undefined : { before, after }
    }
    let placed = fits([])
    if (placed !== undefined) return { id, needs: [], ...placed }
    placed = fits(needs)
    for (const left of [...needs].reverse()) {
      const fewer = needs.filter((each) => each !== left)
      const found = placed === undefined ? undefined : fits(fewer)
      if (found === undefined) continue
      needs = fewer
      placed = found
    }
    // Its base holds changes that were not kept: the patch is against that base itself.
    return placed === undefined ? { id, needs, ...change } : { id, needs, ...placed }
  })
}

// A change carried from the files it was made on to other files, as if it had been made there.
/** A change: files before and after it. */
interface FileChange {
  readonly before: CandidateFiles
  readonly after: CandidateFiles
}

/**
 * `target` with the change made to it. Undefined: the target differs from `before` where the change happens, or so near that a
 * patch with context would not apply, so the change depends on what made it differ.
 */
export function transplant({ before, after }: FileChange, target: CandidateFiles): CandidateFiles | undefined {
  const files = new Map(Object.entries(target))
  for (const path of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (before[path] === after[path]) continue
    const merged = mergeFile(before[path], after[path], target[path])
    if (merged === 'conflict') return undefined
    if (merged === undefined) files.delete(path)
    else files.set(path, merged)
  }
  return Object.fromEntries(files)
}

function mergeFile(
  before: string | undefined,
  after: string | undefined,
  target: string | undefined,
): string | undefined | 'conflict' {
  if (target === before) return after
  // Made or removed as a whole: what it is made from must be there as it was.
  if (before === undefined || after === undefined || target === undefined) return 'conflict'
  const base = linesOf(before).lines
  const wanted = linesOf(after).lines
  const found = linesOf(target).lines
  const moved = changedRanges(base, found)
  const result: string[] = [...found]
  // From the end, so that places further up stay where they are.
  for (const change of changedRanges(base, wanted).reverse()) {
    if (moved.some((other) => touches(change, other))) return 'conflict'
    const shift = moved
      .filter(({ aTo }) => aTo <= change.aFrom)
      .reduce((sum, { aFrom, aTo, bFrom, bTo }) => sum + (bTo - bFrom) - (aTo - aFrom), 0)
    result.splice(change.aFrom + shift, change.aTo - change.aFrom, ...wanted.slice(change.bFrom, change.bTo))
  }
  return textOf(result)
}

// Within the context that a patch needs to find its place.
function touches(a: ChangedRange, b: ChangedRange): boolean {
  return a.aFrom - DIFF_CONTEXT <= b.aTo && b.aFrom <= a.aTo + DIFF_CONTEXT
}
