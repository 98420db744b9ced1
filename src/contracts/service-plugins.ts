// Plugins around the runs: compute providers, deployers, trace sources.
import type * as z from 'zod'
import type { ComputeProvider } from './execution.ts'
import type { Context, Plugin } from './plugin.ts'
import type { ChatMessage } from './rows.ts'
import type { Ref } from './training-service.ts'

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
