import type { ResearchAttempt, ResearchState } from './session-state.ts'

/** Attempts with one of them changed. */
export function changeAttempt(
  { attempts }: ResearchState,
  id: string,
  change: (attempt: ResearchAttempt) => ResearchAttempt,
): readonly ResearchAttempt[] {
  return attempts.map((attempt) => (attempt.id === id ? change(attempt) : attempt))
}
