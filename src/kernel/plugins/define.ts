// How plugins are made: one function for each type of plugin. It adds the type and the defaults, checks the definition and
// freezes it. All inference follows from the signature: K is the literal kind, S the schema that params are typed by.
import * as z from 'zod'
import type {
  Algorithm,
  Metric,
  PluginType,
  PluginTypes,
  RowFormat,
  StepAlgorithm,
  WholeRunAlgorithm,
} from '../../contracts/index.ts'
import { EvsysError } from '../evsys-error.ts'
import { definitionProblems, markPlugin } from './check-plugin.ts'

const noParams = z.strictObject({})
/** The schema of a plugin that takes no params. */
export type NoParams = typeof noParams

/** What an author writes: the interface without its type, `params` and `Optional` fields only where they differ from the default. */
type Definition<P, S, Optional extends keyof P = never> = Omit<P, 'type' | 'params' | Optional> & {
  readonly params?: S | undefined
} & Partial<Pick<P, Optional>>

type Kind = string
type Schema = z.ZodType

/** The function for a type whose definitions have no defaults but that of `params`. */
function definer<T extends PluginType>(type: T) {
  return <const K extends Kind, S extends Schema = NoParams>(
    definition: Definition<PluginTypes<K, S>[T], S>,
  ): PluginTypes<K, S>[T] => define(type, definition)
}

/** An algorithm: either `buildBatch`, the mathematics of one step, or a whole `train`. Rows are chats unless `rowFormat` says otherwise. */
export function defineAlgorithm<
  const K extends Kind,
  S extends Schema = NoParams,
  const F extends RowFormat = 'chat_messages',
>(definition: Definition<StepAlgorithm<K, S, F>, S, 'rowFormat'> & { readonly train?: never }): StepAlgorithm<K, S, F>
export function defineAlgorithm<
  const K extends Kind,
  S extends Schema = NoParams,
  const F extends RowFormat = 'chat_messages',
>(
  definition: Definition<WholeRunAlgorithm<K, S, F>, S, 'rowFormat'> & { readonly buildBatch?: never },
): WholeRunAlgorithm<K, S, F>
export function defineAlgorithm(definition: Definition<Algorithm, Schema, 'rowFormat'>): Algorithm {
  return define('algorithm', { rowFormat: 'chat_messages', ...definition })
}

/** What differs from the base: a kind, a sentence, and any of its other fields. */
type Changes<P extends Algorithm, K, S> = {
  readonly [H in Exclude<keyof P, 'type' | 'kind' | 'summary' | 'params' | 'rowFormat'>]?: P[H] | undefined
} & {
  readonly kind: K
  readonly summary: string
  readonly params?: S | undefined
}

/** Hooks of the base are called with the params of the extension, which have to hold those of the base. */
type Fits<S extends Schema, B extends Schema> = z.output<S> extends z.output<B> ? unknown : { readonly params: B }

/**
 * An algorithm that changes another one. Every hook, the params, rows and needs that are not given are those of the base, those of
 * later versions included. A hook that is given may call the base's: `sft.buildBatch(context)`.
 */
export function extendAlgorithm<const K extends Kind, B extends Schema, F extends RowFormat, S extends Schema = B>(
  base: StepAlgorithm<string, B, F>,
  changes: Changes<StepAlgorithm<K, S, F>, K, S> & Fits<S, NoInfer<B>>,
): StepAlgorithm<K, S, F>
export function extendAlgorithm<const K extends Kind, B extends Schema, F extends RowFormat, S extends Schema = B>(
  base: WholeRunAlgorithm<string, B, F>,
  changes: Changes<WholeRunAlgorithm<K, S, F>, K, S> & Fits<S, NoInfer<B>>,
): WholeRunAlgorithm<K, S, F>
export function extendAlgorithm(base: Algorithm, changes: Partial<Algorithm>): Algorithm {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined)
  // An extension has a new kind and summary: without them it would shadow its base.
  const { kind: _kind, summary: _summary, ...inherited } = base
  return define('algorithm', { ...inherited, ...Object.fromEntries(given) })
}

/** A place to train. */
export const defineBackend = definer('backend')

/** A step of data preparation: rows in, rows out. */
export const defineTransform = definer('transform')

/** Where raw rows come from. */
export const defineDataSource = definer('data_source')

/** Where data paths are read from and written to. */
export const defineDataStore = definer('data_store')

/** Where metrics also go. */
export const defineLogStore = definer('log_store')

/** A number over all rewards of a benchmark. Larger is better unless `direction` says otherwise. */
export function defineMetric<const K extends Kind, S extends Schema = NoParams>(
  definition: Definition<Metric<K, S>, S, 'direction'>,
): Metric<K, S> {
  return define('metric', { direction: 'max', ...definition })
}

/** Scores one answer. */
export const defineVerifier = definer('verifier')

/** Answers in the place of the trained model. */
export const defineInferenceClient = definer('inference_client')

/** Hooks along the life of an experiment. */
export const defineCallback = definer('callback')

/** Puts a checkpoint into service. */
export const defineDeployer = definer('deployer')

/** A harness that attempts tasks with the policy. */
export const defineAgent = definer('agent')

/** Where a task happens. */
export const defineEnvironment = definer('environment')

/** Conversations as the tokens of one family of models. */
export const defineRenderer = definer('renderer')

/** Thinks of the next candidate of a research loop. */
export const defineProposer = definer('proposer')

/** Chooses what a research loop builds on next. */
export const defineStrategy = definer('strategy')

/** Decides whether a candidate replaces the incumbent. */
export const defineKeepRule = definer('keep_rule')

/** A place that jobs are sent to. */
export const defineProvider = definer('provider')

/** Where production traces come from. */
export const defineTraceSource = definer('trace_source')

function define<P>(type: PluginType, definition: { readonly params?: unknown }): P {
  const given: { readonly params?: unknown } = { ...definition } // plain JavaScript may hand over nothing at all
  const plugin = { ...given, type, params: given.params ?? noParams }
  const problems = definitionProblems(plugin)
  if (problems.length > 0) throw EvsysError.many(problems)
  // Checked just above; TypeScript cannot follow the spread of a generic definition.
  return Object.freeze(markPlugin(plugin)) as unknown as P
}
