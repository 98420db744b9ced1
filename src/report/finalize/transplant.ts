// A change carried from the files it was made on to other files, as if it had been made there.
import type { CandidateFiles } from '../../contracts/index.ts'
import { type ChangedRange, changedRanges, DIFF_CONTEXT, linesOf, textOf } from '../../research/index.ts'

/** A change: files before and after it. */
export interface FileChange {
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
