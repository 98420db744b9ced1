// A plugin ready to be called: found by kind, its params checked, its context made. A plugin gets the secrets it declared.
import type { Context, LogLevel, PluginSpec, PluginType, PluginTypes, Random, SeedPath } from '../../contracts/index.ts'
import { EvsysError } from '../evsys-error.ts'
import { checkParams } from './check-params.ts'
import type { Registry } from './registry.ts'
import { typeLabel } from './type-label.ts'

/** What contexts are made of. */
export interface PluginServices {
  readonly registry: Registry
  readonly signal: AbortSignal
  random(...path: SeedPath): Random
  log(level: LogLevel, text: string): void
  /** Value of a secret, whoever asks. */
  secret(name: string): string
}

export interface EquippedPlugin<T extends PluginType> {
  readonly plugin: PluginTypes[T]
  readonly context: Context<unknown>
}

/** Finds the plugin that a spec names, checks the params, and makes its context. */
export function equipPlugin<T extends PluginType>(
  type: T,
  { kind, params }: PluginSpec,
  { registry, signal, random, log, secret }: PluginServices,
): EquippedPlugin<T> {
  const { plugin, params: fixed } = registry.get(type, kind)
  const checked = checkParams(plugin, params, fixed)
  if (!checked.ok) {
    const faults = checked.issues.map(({ path, message }) => [...path, message].join(': '))
    throw new EvsysError('PLUGIN_PARAMS', `${typeLabel(type)} "${kind}": ${faults.join('; ')}`, {
      fix: `\`evsys schema ${type} ${kind}\` prints what it takes.`,
    })
  }
  return {
    plugin: plugin as unknown as PluginTypes[T], // the registry keeps one table per type
    context: {
      params: checked.value,
      signal,
      random,
      log,
      secret(name) {
        if (plugin.needs?.secrets?.includes(name)) return secret(name)
        throw new EvsysError('SECRET_MISSING', `"${kind}" asks for the secret ${name} without declaring it`, {
          fix: `declare it: needs: { secrets: ['${name}'] }.`,
        })
      },
    },
  }
}
