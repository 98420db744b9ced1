// A plugin ready to be called: found by kind, its params checked, its context made. A plugin gets the secrets it declared.

import * as z from 'zod'
import {
  type AnyPlugin,
  type Context,
  type LogLevel,
  type ParamReference,
  type PluginCard,
  type PluginSpec,
  type PluginType,
  type PluginTypes,
  paramReferences,
  type Random,
  type SeedPath,
} from '../../contracts/index.ts'
import { EvsysError, messageOf } from '../evsys-error.ts'
import { isMapping } from '../hash.ts'
import { type Checked, checkValue, type ValueIssue } from '../zod-issues.ts'
import { typeLabel } from './check-plugin.ts'
import type { Registry } from './registry.ts'

/** What contexts are made of. */
export interface PluginServices {
  readonly registry: Registry
  readonly signal: AbortSignal
  random(...path: SeedPath): Random
  log(level: LogLevel, text: string): void
  /** Value of a secret, for any plugin. */
  secret(name: string): string
  /** Address of a service, for any plugin. */
  address?: Context<unknown>['address']
}

export interface EquippedPlugin<T extends PluginType> {
  readonly plugin: PluginTypes[T]
  readonly context: Context<unknown>
}

/** Finds the plugin that a spec names, checks the params, and makes its context. */
export function equipPlugin<T extends PluginType>(
  type: T,
  { kind, params }: PluginSpec,
  { registry, signal, random, log, secret, address }: PluginServices,
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
      address,
      secret(name) {
        if (plugin.needs?.secrets?.includes(name)) return secret(name)
        throw new EvsysError('SECRET_MISSING', `"${kind}" asks for the secret ${name} without declaring it`, {
          fix: `declare it: needs: { secrets: ['${name}'] }.`,
        })
      },
    },
  }
}

// Params against the schema of the plugin they are meant for. The schema is foreign code as well: what it throws is an issue.
/** Params to check, and for which plugin. */
export type ParamsCheck = { type: PluginType; kind: string; params?: unknown }

/** What params turned out to be: with their defaults, or with everything that is wrong with them. */
export type ParamsResult =
  | { ok: true; value: unknown /** Of a metric: samples per task that it needs. */; minSamples?: number | undefined }
  | { ok: false; issues: ValueIssue[] }

/** Checks params for a plugin. `fixed` are those that its kind sets: `k` in `pass@3`. */
export function checkParams(
  plugin: AnyPlugin,
  params: unknown,
  fixed: Readonly<Record<string, number>> = {},
): ParamsResult {
  const twice = Object.keys(fixed).filter((key) => isMapping(params) && Object.hasOwn(params, key))
  if (twice.length > 0) {
    return failed(twice.map((key) => invalid([key], `is set by the kind, which makes it ${fixed[key]}`)))
  }
  try {
    const input = params ?? {}
    const result: Checked<unknown> = checkValue(plugin.params, isMapping(input) ? { ...input, ...fixed } : input)
    return result.ok ? { ...result, ...samplesOf(plugin, result.value) } : result
  } catch (cause) {
    return failed([invalid([], `cannot be checked: ${reason(cause)}`)])
  }
}

function samplesOf(plugin: AnyPlugin, params: unknown): { minSamples?: number | undefined } {
  if (plugin.type !== 'metric' || plugin.minSamples === undefined) return {}
  const minSamples: unknown = plugin.minSamples(params)
  if (!Number.isSafeInteger(minSamples)) throw new TypeError('minSamples must return a whole number')
  return { minSamples: Number(minSamples) }
}

function reason(cause: unknown): string {
  const isAsync = cause instanceof Error && cause.constructor.name === '$ZodAsyncError'
  return isAsync ? 'its schema waits for something; a schema must answer at once' : messageOf(cause)
}

function failed(issues: ValueIssue[]): ParamsResult {
  return { ok: false, issues }
}

function invalid(path: ValueIssue['path'], message: string): ValueIssue {
  return { path, code: 'invalid', message }
}

// A plugin as data: what crosses a process, and what `list`, `schema` and the reference show.
/** Describes a plugin. `origin` is `built-in`, a file or a package; `hash` covers its code. */
export function pluginCard(plugin: AnyPlugin, { origin, hash }: { origin: string; hash: string }): PluginCard {
  let schema: Record<string, unknown> | undefined
  let references: ParamReference[] | undefined
  return {
    type: plugin.type,
    kind: plugin.kind,
    summary: plugin.summary.trim(),
    // Made when it is read: a run has dozens of plugins, and checks params by the plugins themselves.
    get schema() {
      schema ??= paramsSchema(plugin.params)
      return schema
    },
    get references() {
      references ??= paramReferences(plugin.params)
      return references.length === 0 ? undefined : references
    },
    needs: { ...plugin.needs },
    origin,
    hash,
    facts: factsOf(plugin),
  }
}

function factsOf(plugin: AnyPlugin): Record<string, string> {
  if (plugin.type === 'algorithm') {
    const drives: Record<string, string> = 'train' in plugin ? { drives: 'its run' } : {}
    return 'takesRows' in plugin && plugin.takesRows === false ? drives : { ...drives, rowFormat: plugin.rowFormat }
  }
  return plugin.type === 'metric' ? { direction: plugin.direction } : {}
}

/** JSON Schema of what people write for `params`. What JSON Schema cannot say (a refinement, a date) allows anything. */
function paramsSchema(params: z.ZodType): Record<string, unknown> {
  try {
    const { $schema, ...schema } = z.toJSONSchema(params, {
      io: 'input',
      unrepresentable: 'any',
      override: ({ jsonSchema }) => {
        // z.int() adds the bounds of safe integers, which no reader asked for.
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      },
    })
    return JSON.parse(JSON.stringify(schema))
  } catch {
    return {} // a schema of a foreign zod, or with a default that is no JSON: the plugin works, editors know less
  }
}
