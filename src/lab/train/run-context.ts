// What the plugins of one run are handed. Randomness is rooted in the run's seed, secrets are those a plugin declared.
import type {
  Context,
  Datum,
  LogLevel,
  OpenBackend,
  OpenRenderer,
  Plugin,
  PluginSpec,
  PluginType,
  PluginTypes,
  Random,
  Renderer,
  RowFormat,
  SeedPath,
  Tokenizer,
} from '../../contracts/index.ts'
import type { RowCache } from '../../data/index.ts'
import { checkValue, EvsysError, type Registry } from '../../kernel/index.ts'
import type { LoadedRows } from './load-rows.ts'

export interface RunServices {
  readonly registry: Registry
  readonly signal: AbortSignal
  /** Randomness of this run for a purpose. */
  random(...path: SeedPath): Random
  log(level: LogLevel, text: string): void
  secret(name: string): string
  /** Where stored datasets lie and rows are kept. Absent: neither is known, and rows are made at every start. */
  readonly data?: RunData
}

export interface RunData {
  readonly projectDir?: string
  readonly cache?: RowCache
  /** Hears of rows that were loaded. */
  onLoaded?(loaded: LoadedRows<RowFormat>): Promise<void>
  /** The renderer with the tokens of those rows at hand. */
  withTokens?(renderer: OpenRenderer, of: { plugin: Renderer; backend: OpenBackend }): Promise<OpenRenderer>
  /** Hears of every batch before it is trained on. */
  onBatch?(batch: readonly Datum[], tokenizer: Tokenizer): void
}

/** A plugin of the run with its checked params and its context. */
export interface Equipped<P extends Plugin> {
  readonly plugin: P
  readonly context: Context<unknown>
}

/** Finds the plugin that a spec names, checks the params, and makes its context. */
export function equip<T extends PluginType>(
  type: T,
  spec: PluginSpec,
  services: RunServices,
): Equipped<PluginTypes[T]> {
  const { plugin, params: fromKind } = services.registry.get(type, spec.kind)
  const checked = checkValue(plugin.params, { ...spec.params, ...fromKind })
  if (!checked.ok) {
    const faults = checked.issues.map(({ path, message }) => [...path, message].join(': '))
    throw new EvsysError('PLUGIN_PARAMS', `${type} "${spec.kind}": ${faults.join('; ')}`, {
      fix: `\`evsys schema ${type} ${spec.kind}\` prints what it takes`,
    })
  }
  return {
    plugin: plugin as unknown as PluginTypes[T], // the registry keeps one table per type
    context: contextOf(plugin, checked.value, services),
  }
}

function contextOf<P>({ kind, needs }: Plugin, params: P, { signal, random, log, secret }: RunServices): Context<P> {
  return {
    params,
    signal,
    log,
    random,
    secret(name) {
      if (needs?.secrets?.includes(name)) return secret(name)
      throw new EvsysError('SECRET_MISSING', `"${kind}" asks for the secret ${name} without declaring it`, {
        fix: `declare it: needs: { secrets: ['${name}'] }`,
      })
    },
  }
}
