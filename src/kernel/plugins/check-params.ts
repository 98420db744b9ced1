// Params against the schema of the plugin they are meant for. The schema is foreign code as well: what it throws is an issue.
import type { AnyPlugin } from '../../contracts/index.ts'
import { messageOf } from '../message-of.ts'
import { type Checked, checkValue, type ValueIssue } from '../zod-issues.ts'

/** What params turned out to be: with their defaults, or with everything that is wrong with them. */
export type ParamsResult =
  | { ok: true; value: unknown /** Of a metric: samples per task that it needs. */; minSamples?: number }
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

function samplesOf(plugin: AnyPlugin, params: unknown): { minSamples?: number } {
  if (plugin.type !== 'metric' || plugin.minSamples === undefined) return {}
  const minSamples: unknown = plugin.minSamples(params)
  if (!Number.isSafeInteger(minSamples)) throw new TypeError('minSamples must return a whole number')
  return { minSamples: Number(minSamples) }
}

function reason(cause: unknown): string {
  const isAsync = cause instanceof Error && cause.constructor.name === '$ZodAsyncError'
  return isAsync ? 'its schema waits for something; a schema must answer at once' : messageOf(cause)
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function failed(issues: ValueIssue[]): ParamsResult {
  return { ok: false, issues }
}

function invalid(path: ValueIssue['path'], message: string): ValueIssue {
  return { path, code: 'invalid', message }
}
