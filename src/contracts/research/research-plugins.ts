// Plugins of the research loop: who proposes, where the search goes on, and what is kept.
import type * as z from 'zod'
import type { Usage } from '../execution.ts'
import type { Direction } from '../metadata.ts'
import type { Context, Plugin } from '../plugin.ts'
import type { Attempt, AttemptFailure, MeasuredGain, SeedScore } from './attempt.ts'
import type { Idea, KnobSpec, Knobs, SearchMode } from './idea.ts'
import type { CandidateFiles } from './research-task.ts'

/** All that a strategy may know. Equal states and draws give equal answers. */
export interface SearchState {
  readonly direction: Direction
  /** In the order of their numbers; those without a verdict are still raced. */
  readonly attempts: readonly Attempt[]
  /** Id of the attempt to beat. */
  readonly incumbent: string
  readonly space: Readonly<Record<string, KnobSpec>>
  /** Families that a person has banned. */
  readonly banned: readonly string[]
  /** Attempt that a person wants to go on from. */
  readonly pinned?: string
  /** Experiments that the budget still allows; absent: no cap. */
  readonly experimentsLeft?: number
}

/** What to ask a proposer for. */
export interface SearchRequest {
  /** The first is the base; two are combined. */
  readonly parents: readonly string[]
  readonly mode: SearchMode
  /** How many ideas to ask for; few of them are run. */
  readonly ideas: number
  readonly avoidFamilies: readonly string[]
}

/** An idea that can be run: its files are made and it repeats nothing. */
export interface CandidateIdea {
  readonly idea: Idea
  readonly knobs: Knobs
  readonly fingerprint: string
}

/** Decides where the search goes on. */
export interface Strategy<K extends string = string, S extends z.ZodType = z.ZodType> extends Plugin<'strategy', K, S> {
  next(state: SearchState, context: Context<z.output<S>>): SearchRequest
  /** Whether candidates that were tried are answered from memory. Absent: they are. */
  readonly repeats?: 'run again'
  /** Places of the candidates worth running, best first. Absent: in the order they were proposed. */
  rank?(
    candidates: readonly CandidateIdea[],
    state: SearchState,
    context: Context<z.output<S>> & { readonly request: SearchRequest },
  ): readonly number[]
}

/** Bounded, deterministic summary that a proposer decides from. */
export interface Brief {
  /** Of the session: which call this is; one that is sent again keeps it. */
  readonly call?: string
  /** For a model to read: goal, incumbent, wins, dead ends, open hypotheses, near misses, notes, backlog, failures. */
  readonly text: string
  readonly request: SearchRequest
  readonly state: SearchState
  /** Files of the base. */
  readonly files: CandidateFiles
  /** Takes out the values of secrets that the controller knows; whatever leaves for a model or a file goes through it. Absent: none is known. */
  redact?<T>(value: T): T
  /** What this call may take, so that no cap is passed; absent: as much as it likes. */
  readonly limit?: { readonly usd?: number; readonly tokens?: number }
  /** Paths with hidden data, and the record of what was seen of it: a program that proposes must not read them. Absent: none. */
  readonly sealed?: readonly string[]
  /** Present in a repair turn: the idea that was turned down, and why. */
  readonly repair?: { readonly idea: Idea; readonly failures: readonly AttemptFailure[] }
}

export interface Proposal {
  readonly ideas: readonly Idea[]
  /** Absent: no model was asked. */
  readonly usage?: Usage
}

/** Thinks of the next changes: an LLM or an optimiser. */
export interface Proposer<K extends string = string, S extends z.ZodType = z.ZodType> extends Plugin<'proposer', K, S> {
  propose(brief: Brief, context: Context<z.output<S>>): Promise<Proposal>
  /** Its answers are recorded, or about to be: results count in the order in which work was begun, so that a session repeats with any number of workers. */
  readonly isRecorded?: true
}

/** What a keep rule looks at after every seed. */
export interface Race {
  readonly direction: Direction
  readonly candidate: readonly SeedScore[]
  /** Scores of the incumbent, among them those of the same seeds. */
  readonly incumbent: readonly SeedScore[]
  /** Noise of one paired difference and its degrees of freedom; of one score over seeds, and the share of its variance that all candidates have in common on a seed. */
  readonly noise: {
    readonly sigma: number
    readonly degreesOfFreedom: number
    readonly seedSd?: number
    readonly shared?: number
  }
  /** Gains of the attempts that were judged so far, kept or not. Absent: not known. */
  readonly tried?: readonly MeasuredGain[]
  /** Moving average of kept gains, in sigmas. */
  readonly typicalGain: number
  /** Lines of code of the candidate less those of the incumbent. */
  readonly linesAdded: number
  readonly secondary: readonly { readonly metric: string; readonly direction: Direction; readonly tolerance: number }[]
}

export type RaceStep =
  | { readonly action: 'run' }
  | { readonly action: 'keep' | 'discard' | 'park'; readonly reason: string }

/** Decides whether a candidate replaces the incumbent. */
export interface KeepRule<K extends string = string, S extends z.ZodType = z.ZodType>
  extends Plugin<'keep_rule', K, S> {
  decide(race: Race, context: Context<z.output<S>>): RaceStep
  /** Fresh seeds on which what was kept is measured again on the hidden split before it is called confirmed. Absent: never confirmed. */
  readonly confirmSeeds?: number
  /** `kept`: the incumbent is known by the runs it was kept for, on the same seeds for the whole session. Absent: every keep brings a fresh seed. */
  readonly incumbent?: 'kept'
}
