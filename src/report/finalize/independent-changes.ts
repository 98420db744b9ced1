// Which kept changes stand alone, and which need others first. Changes are given in the order in which they were kept.
import type { CandidateFiles } from '../../contracts/index.ts'
import { type FileChange, transplant } from './transplant.ts'

export interface OrderedChange {
  readonly id: string
  /** Its base was made by these, directly or not, in their order. */
  readonly builtOn: readonly string[]
  readonly change: FileChange
}

export interface PlacedChange {
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
