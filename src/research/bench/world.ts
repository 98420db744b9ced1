// Something to search in: it plays the proposer and the executor of the loop, so that strategies are measured alone.
import type { CandidateIdea, Direction, KnobSpec, Knobs, SearchRequest } from '../../contracts/index.ts'
import type { KeyedRandom } from '../../kernel/index.ts'

/** A candidate as a world knows it. */
export type Candidate = { readonly knobs: Knobs; readonly fingerprint: string }

export interface World {
  readonly name: string
  readonly direction: Direction
  readonly space: Readonly<Record<string, KnobSpec>>
  /** Why its results do not count. */
  readonly flat?: string
  /** Begins a session: equal randomness gives equal sessions. */
  open(random: KeyedRandom): WorldSession
}

export interface WorldSession {
  readonly baseline: Candidate
  /** Ideas for a request, repeats among them. */
  propose(request: SearchRequest, parents: readonly Candidate[], random: KeyedRandom): readonly CandidateIdea[]
  /** One noisy run; no value: it crashed. */
  run(candidate: Candidate, random: KeyedRandom): { readonly value?: number; readonly reached: boolean }
}
