// What a controller does next. Steps follow from the state alone, so that a session that was killed goes on with the step it died in.
import type {
  CandidateFiles,
  Idea,
  KnobSpec,
  Knobs,
  ResearchEntryOf,
  ResearchState,
  RunPurpose,
} from '../../contracts/index.ts'
import type { Materialised } from '../propose/materialise.ts'
import type { NewEntry } from './session-journal.ts'
import type { SessionPlugins } from './session-plugins.ts'

export interface RunStep {
  readonly kind: 'run'
  readonly run: string
  readonly attempt: string
  readonly seed: number
  readonly split: 'val' | 'test'
  readonly purpose: RunPurpose
}

export interface AskStep {
  readonly kind: 'ask'
  /** Of a call that was sent before and never answered. */
  readonly lost?: Omit<ResearchEntryOf<'call.lost'>, 'at'>
  readonly intent: Omit<ResearchEntryOf<'call.intended'>, 'at'>
}

export type Step =
  /** A decision: nothing is done but writing it down. */
  | { readonly kind: 'write'; readonly entries: readonly NewEntry[] }
  | RunStep
  | { readonly kind: 'check'; readonly attempt: string }
  | AskStep
  /** Others are at work on what must come first, or a person paused the session. */
  | { readonly kind: 'wait' }

/** All that a decision depends on besides the state. */
export interface Deciding {
  readonly state: ResearchState
  readonly plugins: SessionPlugins
  readonly nowMs: number
  /** What is in progress: `run:NAME`, `attempt:ID`, `call:ID`. */
  readonly busy: ReadonlySet<string>
  readonly tools: CandidateTools
}

/** What is done with code, whoever proposes it. */
export interface CandidateTools {
  materialise(
    idea: Pick<Idea, 'change'>,
    base: CandidateFiles,
    declared: Readonly<Record<string, KnobSpec>>,
  ): Materialised
  knobsOf(files: CandidateFiles, declared: Readonly<Record<string, KnobSpec>>): Knobs
  fingerprint(files: CandidateFiles, knobs: Knobs): string
}
