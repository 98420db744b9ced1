// How plugins are made: one function for each type of plugin. It adds the type and the defaults, checks the definition and
// freezes it. All inference follows from the signature: K is the literal kind, S the schema that params are typed by.
import * as z from 'zod'
import type {
  Agent,
  Algorithm,
  Backend,
  Callback,
  DataSource,
  DataStore,
  Deployer,
  Environment,
  InferenceClient,
  KeepRule,
  LogStore,
  Metric,
  PluginType,
  PluginTypes,
  Proposer,
  Provider,
  Renderer,
  RowFormat,
  StepAlgorithm,
  Strategy,
  TraceSource,
  Transform,
  Verifier,
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
export function defineBackend<const K extends Kind, S extends Schema = NoParams>(
  definition: Definition<Backend<K, S>, S>,
): Backend<K, S> {
  return define('backend', definition)
}

/** A step of data preparation: rows in, rows out. */
export function defineTransform<const K extends Kind, S extends Schema = NoParams>(
  definition: Definition<Transform<K, S>, S>,
): Transform<K, S> {
  return define('transform', definition)
}

/** Where raw rows come from. */
export function defineDataSource<const K extends Kind, S extends Schema = NoParams>(
  definition: Definition<DataSource<K, S>, S>,
): DataSource<K, S> {
  return define('data_source', definition)
}

/** Where data paths are read from and written to. */
export function defineDataStore<const K extends Kind, S extends Schema = NoParams>(
  definition: Definition<DataStore<K, S>, S>,
): DataStore<K, S> {
  return define('data_store', definition)
}

/** Where metrics also go. */
export function defineLogStore<const K extends Kind, S extends Schema = NoParams>(
  definition: Definition<LogStore<K, S>, S>,
): LogStore<K, S> {
  return define('log_store', definition)
}

/** A number over all rewards of a benchmark. Larger is better unless `direction` says otherwise. */
export function defineMetric<const K extends Kind, S extends Schema = NoParams>(
  definition: Definition<Metric<K, S>, S, 'direction'>,
): Metric<K, S> {
  return define('metric', { direction: 'max', ...definition })
}

/** Scores one answer. */
export function defineVerifier<const K extends Kind, S extends Schema = NoParams>(
  definition: Definition<Verifier<K, S>, S>,
): Verifier<K, S> {
  return define('verifier', definition)
}

/** Answers in the place of the trained model. */
export function defineInferenceClient<const K extends Kind, S extends Schema = NoParams>(
  definition: Definition<InferenceClient<K, S>, S>,
): InferenceClient<K, S> {
  return define('inference_client', definition)
}

/** Hooks along the life of an experiment. */
export function defineCallback<const K extends Kind, S extends Schema = NoParams>(
  definition: Definition<Callback<K, S>, S>,
): Callback<K, S> {
  return define('callback', definition)
}

/** Puts a checkpoint into service. */
export function defineDeployer<const K extends Kind, S extends Schema = NoParams>(
  definition: Definition<Deployer<K, S>, S>,
): Deployer<K, S> {
  return define('deployer', definition)
}

/** A harness that attempts tasks with the policy. */
export function defineAgent<const K extends Kind, S extends Schema = NoParams>(
  definition: Definition<Agent<K, S>, S>,
): Agent<K, S> {
  return define('agent', definition)
}

/** Where a task happens. */
export function defineEnvironment<const K extends Kind, S extends Schema = NoParams>(
  definition: Definition<Environment<K, S>, S>,
): Environment<K, S> {
  return define('environment', definition)
}

/** Conversations as the tokens of one family of models. */
export function defineRenderer<const K extends Kind, S extends Schema = NoParams>(
  definition: Definition<Renderer<K, S>, S>,
): Renderer<K, S> {
  return define('renderer', definition)
}

/** Thinks of the next candidate of a research loop. */
export function defineProposer<const K extends Kind, S extends Schema = NoParams>(
  definition: Definition<Proposer<K, S>, S>,
): Proposer<K, S> {
  return define('proposer', definition)
}

/** Chooses what a research loop builds on next. */
export function defineStrategy<const K extends Kind, S extends Schema = NoParams>(
  definition: Definition<Strategy<K, S>, S>,
): Strategy<K, S> {
  return define('strategy', definition)
}

/** Decides whether a candidate replaces the incumbent. */
export function defineKeepRule<const K extends Kind, S extends Schema = NoParams>(
  definition: Definition<KeepRule<K, S>, S>,
): KeepRule<K, S> {
  return define('keep_rule', definition)
}

/** A place that jobs are sent to. */
export function defineProvider<const K extends Kind, S extends Schema = NoParams>(
  definition: Definition<Provider<K, S>, S>,
): Provider<K, S> {
  return define('provider', definition)
}

/** Where production traces come from. */
export function defineTraceSource<const K extends Kind, S extends Schema = NoParams>(
  definition: Definition<TraceSource<K, S>, S>,
): TraceSource<K, S> {
  return define('trace_source', definition)
}

function define<T extends PluginType, P extends PluginTypes[T]>(type: T, definition: { readonly params?: unknown }): P {
  const given: { readonly params?: unknown } = { ...definition } // plain JavaScript may hand over nothing at all
  const plugin = { ...given, type, params: given.params ?? noParams }
  const problems = definitionProblems(plugin)
  if (problems.length > 0) throw EvsysError.many(problems)
  // Checked just above; TypeScript cannot follow the spread of a generic definition.
  return Object.freeze(markPlugin(plugin)) as unknown as P
}
