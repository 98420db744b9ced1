// What a plugin is. A plain frozen object: its type, a literal kind, a sentence, a schema for its params, its functions.
// What it needs reaches it through its context, never by import.
import * as z from 'zod'
import type { LogLevel } from './events.ts'
import type { SeedPath } from './execution.ts'
import { PluginType } from './plugin-spec.ts'

/** Keyed randomness: equal paths give equal draws, whatever else was drawn. */
export interface Random {
  /** Uniform in [0, 1). */
  float(): number
  /** Uniform integer in [0, n). */
  int(n: number): number
  /** Standard normal. */
  normal(): number
  shuffle<T>(items: readonly T[]): T[]
}

/** What every plugin function is handed besides its params. */
export interface Context<P> {
  readonly params: P
  readonly signal: AbortSignal
  /** Randomness of this run for a purpose: `random('shuffle', epoch)`. */
  random(...path: SeedPath): Random
  log(level: LogLevel, text: string): void
  /** Value of a secret that the plugin declared. */
  secret(name: string): string
}

/** What a plugin cannot work without; checked before anything starts. */
export const Needs = z
  .strictObject({
    container: z.boolean().optional().describe('A container engine.'),
    commands: z.array(z.string().min(1)).readonly().optional().describe('Executables on the PATH.'),
    secrets: z.array(z.string().min(1)).readonly().optional().describe('Secrets, by name; no other is handed to it.'),
    network: z.boolean().optional().describe('Outgoing network.'),
    sandbox: z.boolean().optional().describe('A sandbox for code that a model wrote.'),
    model: z.boolean().optional().describe('A model to ask. Agents have one unless they say false.'),
  })
  .readonly()
export type Needs = z.infer<typeof Needs>

/** The common part of all plugins. */
export interface Plugin<T extends PluginType = PluginType, K extends string = string, S extends z.ZodType = z.ZodType> {
  readonly type: T
  /** Name in YAML. `pass@{k}` is a family: `{k}` stands for a whole number and arrives in params. */
  readonly kind: K
  /** One sentence for `evsys list`. */
  readonly summary: string
  readonly params: S
  readonly needs?: Needs
}

/** A plugin as data: what crosses a process, what `list` and `schema` print. */
export const PluginCard = z
  .strictObject({
    type: PluginType,
    kind: z.string(),
    summary: z.string(),
    schema: z.record(z.string(), z.unknown()).readonly().describe('JSON Schema of params.'),
    needs: Needs,
    origin: z.string().describe('`built-in`, a file of the project, or a package.'),
    hash: z.string().describe('Covers the plugin and everything it imports from its project or package.'),
    facts: z
      .record(z.string(), z.string())
      .readonly()
      .describe('Further facts of its type: the row format of an algorithm, the direction of a metric.'),
  })
  .readonly()
export type PluginCard = z.infer<typeof PluginCard>
