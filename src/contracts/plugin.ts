// What a plugin is. A plain frozen object: its type, a literal kind, a sentence, a schema for its params, its functions.
// What it needs reaches it through its context, never by import.
import * as z from 'zod'
import { Text } from './name.ts'

/** Name under which a plugin is registered: `sft`, `pass@3`, `acme/dedupe`. */
export const Kind = z
  .string()
  .regex(/^[A-Za-z][\w@^+./-]*$/, 'a kind starts with a letter and holds letters, digits and _ @ ^ + . / -')
  .describe('Registered name; `evsys list` shows them.')
export type Kind = z.infer<typeof Kind>

export const Params = z.record(z.string(), z.unknown()).describe('Checked by the schema of the named plugin.')
export type Params = z.infer<typeof Params>

/** How a YAML file names a plugin: a kind, and params that the schema of the plugin checks. */
export const PluginSpec = z.strictObject({ kind: Kind, params: Params.default({}) })
export type PluginSpec = z.infer<typeof PluginSpec>

/** The kinds of things that can be plugged in. One registry table each. */
export const PluginType = z.enum([
  'algorithm',
  'backend',
  'transform',
  'data_source',
  'data_store',
  'log_store',
  'metric',
  'verifier',
  'inference_client',
  'callback',
  'deployer',
  'agent',
  'environment',
  'renderer',
  'proposer',
  'strategy',
  'keep_rule',
  'provider',
  'trace_source',
])
export type PluginType = z.infer<typeof PluginType>

export const LogLevel = z.enum(['debug', 'info', 'warn', 'error'])
export type LogLevel = z.infer<typeof LogLevel>

/** Where a random draw belongs: (seed, purpose, step, task, sample, ...). Equal paths give equal draws. */
export type SeedPath = readonly (string | number)[]

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
  /** Address of a service, such as `TINKER_BASE_URL`, from the environment or the project's `.env`. */
  readonly address?: ((name: AddressVariable) => string | undefined) | undefined
}

/** Variables that name the address of a service. They hold no secret, and every plugin may ask for them. */
export const AddressVariable = z.enum(['TINKER_BASE_URL', 'OPENAI_BASE_URL', 'ANTHROPIC_BASE_URL'])
export type AddressVariable = z.infer<typeof AddressVariable>

/** What a plugin cannot work without; checked before anything starts. */
export const Needs = z
  .strictObject({
    container: z.boolean().optional().describe('A container engine.'),
    commands: z.array(Text).readonly().optional().describe('Executables on the PATH.'),
    secrets: z.array(Text).readonly().optional().describe('Secrets, by name; no other is handed to it.'),
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
  readonly needs?: Needs | undefined
}

const marks = z.registry<{ type: PluginType }>()

/**
 * A place in params that names another plugin: `{ kind, params }`, or its kind alone where `schema` is text. The mark survives
 * `.optional()`, `.describe()` and `.extend()`; `validate` checks what is named there like every other plugin.
 */
export function pluginReference(type: PluginType): typeof PluginSpec
export function pluginReference<S extends z.ZodType>(type: PluginType, schema: S): S
export function pluginReference(type: PluginType, schema: z.ZodType = PluginSpec): z.ZodType {
  return schema.clone().register(marks, { type })
}

/** Where params name another plugin; `*` in the path stands for every item of a list or value of a mapping. */
export const ParamReference = z.strictObject({
  path: z.array(z.string()).readonly(),
  type: PluginType,
  form: z.enum(['spec', 'name']).describe('`spec`: { kind, params }; `name`: the kind as text.'),
})
export type ParamReference = z.infer<typeof ParamReference>

/** The places of a params schema that are marked by `pluginReference`. */
export function paramReferences(params: z.ZodType): ParamReference[] {
  const found = new Map<string, ParamReference>()
  const open = new Set<unknown>() // schemas that hold themselves are entered once
  const visit = (schema: unknown, path: readonly string[]): void => {
    if (!isSchema(schema) || open.has(schema)) return
    const mark = marks.get(schema)
    if (mark !== undefined) {
      const reference: ParamReference = {
        path,
        type: mark.type,
        form: schema._zod.def.type === 'string' ? 'name' : 'spec',
      }
      found.set(JSON.stringify(reference), reference)
      return
    }
    open.add(schema)
    for (const { step, inner } of partsOf(schema)) visit(inner, step === undefined ? path : [...path, step])
    open.delete(schema)
  }
  visit(params, [])
  return [...found.values()]
}

function isSchema(value: unknown): value is z.ZodType {
  return typeof value === 'object' && value !== null && '_zod' in value
}

function partsOf(schema: z.ZodType): { step?: string; inner: unknown }[] {
  const def: Readonly<Record<string, unknown>> = { ...schema._zod.def }
  switch (def.type) {
    case 'object':
      return Object.entries(Object(def.shape)).map(([step, inner]) => ({ step, inner }))
    case 'array':
      return [{ step: '*', inner: def.element }]
    case 'record':
      return [{ step: '*', inner: def.valueType }]
    case 'union':
      return [def.options].flat().map((inner) => ({ inner }))
    case 'lazy':
      return typeof def.getter === 'function' ? [{ inner: def.getter() }] : []
    default:
      // Wrappers (optional, default, readonly, ...), pipes and intersections stand in the place of what they hold.
      return [def.innerType, def.in, def.out, def.left, def.right].map((inner) => ({ inner }))
  }
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
    references: z.array(ParamReference).readonly().optional().describe('Where its params name other plugins.'),
    facts: z
      .record(z.string(), z.string())
      .readonly()
      .describe('Further facts of its type: the row format of an algorithm, the direction of a metric.'),
  })
  .readonly()
export type PluginCard = z.infer<typeof PluginCard>
