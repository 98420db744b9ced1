// Plugins around the runs: research (proposer, strategy, keep rule), compute providers, deployers, trace sources.
import type * as z from 'zod'
import type { ComputeProvider } from './execution.ts'
import type { Direction } from './metadata.ts'
import type { Context, Plugin } from './plugin.ts'
import type { Score } from './results.ts'
import type { ChatMessage } from './rows.ts'
import type { Ref } from './training-service.ts'

/** One finished attempt, as the research loop remembers it. */
export interface Attempt {
  readonly runId: string
  readonly parentRunId?: string
  readonly hypothesis: string
  readonly category: string
  readonly score?: Score
  readonly kept: boolean
  readonly failure?: string
}

/** Bounded, deterministic summary that a proposer decides from. */
export interface Brief {
  readonly goal: string
  readonly metric: string
  readonly direction: Direction
  readonly incumbent?: Attempt
  readonly attempts: readonly Attempt[]
  readonly files: Readonly<Record<string, string>>
  readonly mode: 'improve' | 'explore' | 'ablate'
}

/** A change to try: whole files, and what it is expected to do. */
export interface Proposal {
  readonly hypothesis: string
  readonly category: string
  readonly files: Readonly<Record<string, string>>
}

/** Thinks of the next change: an LLM or an optimiser. */
export interface Proposer<K extends string = string, S extends z.ZodType = z.ZodType> extends Plugin<'proposer', K, S> {
  propose(brief: Brief, context: Context<z.output<S>>): Promise<Proposal>
}

/** Decides where the search goes on. */
export interface Strategy<K extends string = string, S extends z.ZodType = z.ZodType> extends Plugin<'strategy', K, S> {
  /** Which attempt to build on next, and how boldly. */
  next(
    attempts: readonly Attempt[],
    context: Context<z.output<S>> & { direction: Direction },
  ): { parentRunId?: string; mode: Brief['mode'] }
}

/** Decides whether a candidate replaces the incumbent. */
export interface KeepRule<K extends string = string, S extends z.ZodType = z.ZodType>
  extends Plugin<'keep_rule', K, S> {
  /** Scores are paired by position: equal places had equal seeds. */
  decide(
    candidate: readonly number[],
    incumbent: readonly number[],
    context: Context<z.output<S>> & { direction: Direction },
  ): { keep: boolean; moreSeeds?: number; reason: string }
}

/** A place that runs jobs: local, slurm, kubernetes. */
export interface Provider<K extends string = string, S extends z.ZodType = z.ZodType> extends Plugin<'provider', K, S> {
  open(context: Context<z.output<S>>): Promise<ComputeProvider>
}

/** A model that is being served, and where. */
export interface Deployment {
  readonly provider: string
  readonly modelRef: string
  readonly endpoint?: string
  readonly deploymentId?: string
}

/** Puts a checkpoint into service and takes it back. */
export interface Deployer<K extends string = string, S extends z.ZodType = z.ZodType> extends Plugin<'deployer', K, S> {
  deploy(context: Context<z.output<S>> & { checkpoint: Ref; baseModel: string }): Promise<Deployment>
  rollback?(context: Context<z.output<S>> & { to: Deployment }): Promise<void>
}

/** One production interaction. */
export interface Trace {
  readonly traceId: string
  readonly messages: readonly ChatMessage[]
  readonly feedback: readonly { key: string; score?: number; comment?: string; turn?: number }[]
  readonly metadata: Readonly<Record<string, unknown>>
  readonly at: string
}

/** Where production interactions are read from. */
export interface TraceSource<K extends string = string, S extends z.ZodType = z.ZodType>
  extends Plugin<'trace_source', K, S> {
  /** Traces after the cursor, oldest first; each with the cursor to go on from. */
  pull(cursor: string | undefined, context: Context<z.output<S>>): AsyncIterable<{ trace: Trace; cursor: string }>
}
