// The way from the baseline to what a session ended with, step by step. A step is what its race measured: the incumbent of the time
// against the one that took its place, whatever candidate the idea was written on.
import type { CandidateFiles } from '../../contracts/index.ts'
import type { ReportedAttempt, ResearchReportInput } from '../research-report-input.ts'
import type { OrderedChange } from './independent-changes.ts'
import { transplant } from './transplant.ts'

export interface StepsToBest {
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
  const chain = standing(succession ?? kept.map(({ attempt }) => attempt.id), best).flatMap((id) => {
    const found = byId.get(id)
    return found === undefined || found === baseline ? [] : [found]
  })
  return withoutDeadWeight(changesOf(start, chain), { byId, start })
}

// A person may take an incumbent away: then the one before it stands again, and what lay between led nowhere.
function standing(succession: readonly string[], best: string): string[] {
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
