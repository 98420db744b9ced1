// Which work is in progress, in the fold of a session. What is begun again after a crash keeps its place.
import type { ResearchEntry } from './journal.ts'
import type { BegunWork } from './session-state.ts'

export function reduceBegun(begun: readonly BegunWork[], entry: ResearchEntry): readonly BegunWork[] {
  switch (entry.type) {
    case 'call.intended':
      return withWork(begun, { kind: 'call', call: entry.call })
    case 'check.intended':
      return withWork(begun, { kind: 'check', attempt: entry.attempt })
    case 'run.intended':
      return withWork(begun, { kind: 'run', run: entry.run, attempt: entry.attempt })
    case 'call.answered':
    case 'call.failed':
      return without(begun, `call:${entry.call}`)
    case 'attempt.checked':
      return without(begun, `check:${entry.attempt}`)
    case 'run.finished':
      return without(begun, `run:${entry.run}`)
    default:
      return begun
  }
}

function withWork(begun: readonly BegunWork[], work: BegunWork): readonly BegunWork[] {
  return begun.some((each) => keyOf(each) === keyOf(work)) ? begun : [...begun, work]
}

function without(begun: readonly BegunWork[], key: string): readonly BegunWork[] {
  const left = begun.filter((each) => keyOf(each) !== key)
  return left.length === begun.length ? begun : left
}

function keyOf(work: BegunWork): string {
  if (work.kind === 'call') return `call:${work.call}`
  return work.kind === 'run' ? `run:${work.run}` : `check:${work.attempt}`
}
