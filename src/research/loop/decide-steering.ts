// Vetoes and overrides become verdicts. An incumbent that a person takes away gives its place to the last one before it that stands.
import type { ResearchEntryOf, ResearchState } from '../../contracts/index.ts'
import { attemptOf } from './candidate-files.ts'
import { keepEntries } from './keep-entries.ts'
import type { NewEntry } from './session-journal.ts'
import type { Deciding, Step } from './step.ts'

export function decideSteering(deciding: Deciding): Step | undefined {
  const [first] = deciding.state.unanswered
  if (first === undefined || !('attempt' in first.steering)) return undefined
  const { steering, author } = first
  const wantsKeep = steering.action === 'override' && steering.verdict === 'keep'
  return {
    kind: 'write',
    entries: wantsKeep ? keepFor(deciding, first) : dropFor(deciding.state, steering.attempt, author),
  }
}

function keepFor({ state, plugins }: Deciding, { steering, author }: ResearchEntryOf<'steered'>): NewEntry[] {
  const id = 'attempt' in steering ? steering.attempt : ''
  const attempt = attemptOf(state, id)
  const verdict: NewEntry = {
    type: 'verdict',
    attempt: id,
    verdict: 'provisional',
    reason: `Kept by ${author}.`,
    author,
    ...(attempt.gain === undefined ? {} : { gain: attempt.gain }),
  }
  return state.incumbent === id ? [verdict] : [verdict, ...keepEntries(state, plugins, id)]
}

function dropFor(state: ResearchState, id: string, author: string): NewEntry[] {
  const verdict: NewEntry = {
    type: 'verdict',
    attempt: id,
    verdict: 'discarded',
    reason: `Discarded by ${author}.`,
    author,
  }
  if (state.incumbent !== id || id === state.baseline) return [verdict]
  const before = state.kept.findLast((each) => each !== id && stands(state, each)) ?? state.baseline ?? id
  return [verdict, { type: 'kept', attempt: before, before: id }]
}

function stands(state: ResearchState, id: string): boolean {
  const { verdict, vetoed } = attemptOf(state, id)
  return vetoed === undefined && (verdict === 'provisional' || verdict === 'confirmed')
}
