// Files of attempts from the journal, which keeps what changed against the parent.
import type { CandidateFiles, FileChanges, ResearchAttempt, ResearchState } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'

/** An attempt by its id. */
export function attemptOf(state: ResearchState, id: string): ResearchAttempt {
  const found = state.attempts.find((attempt) => attempt.id === id)
  if (found !== undefined) return found
  throw new EvsysError('STORE_MISSING', `the session has no attempt "${id}"`, {
    fix: '`evsys research status` lists them.',
  })
}

/** All files of an attempt. */
export function filesOf(state: ResearchState, id: string): CandidateFiles {
  const attempt = attemptOf(state, id)
  const [parent] = attempt.parents
  return parent === undefined
    ? applyChanges(state.files, attempt.files)
    : applyChanges(filesOf(state, parent), attempt.files)
}

function applyChanges(base: CandidateFiles, changes: FileChanges): CandidateFiles {
  const files = Object.entries({ ...base, ...changes })
  return Object.fromEntries(files.filter((file): file is [string, string] => file[1] !== null))
}

/** What changed from `base` to `files`. */
export function changesBetween(base: CandidateFiles, files: CandidateFiles): FileChanges {
  const names = [...new Set([...Object.keys(base), ...Object.keys(files)])].sort()
  return Object.fromEntries(
    names.filter((name) => base[name] !== files[name]).map((name) => [name, files[name] ?? null]),
  )
}

/** Lines of code of a candidate. */
export function lineCount(files: CandidateFiles): number {
  return Object.values(files).reduce(
    (sum, text) => sum + text.split('\n').filter((line) => line.trim() !== '').length,
    0,
  )
}
