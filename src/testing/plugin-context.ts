// What evsys hands to a plugin function, for tests: params through the plugin's own schema, keyed randomness, a log to read.
import type * as z from 'zod'
import type { Context, LogLevel } from '../contracts/index.ts'
import { EvsysError, keyedRandom } from '../kernel/index.ts'

/** What a test says about the context of a plugin. */
export interface ContextOptions {
  /** As they stand in YAML; the schema of the plugin checks them and fills in defaults. */
  readonly params?: Readonly<Record<string, unknown>> | undefined
  /** Root of all randomness. Default: 1. */
  readonly seed?: number | undefined
  /** Values of `${secret:NAME}`. */
  readonly secrets?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
}

export type TestContext<P> = Context<P> & { readonly logged: readonly { level: LogLevel; text: string }[] }

/** The context of a plugin. Params that its schema refuses are an error, as in `evsys validate`. */
export function pluginContext<S extends z.ZodType>(
  plugin: { readonly kind?: string | undefined; readonly params: S },
  { params = {}, seed = 1, secrets = {}, signal = new AbortController().signal }: ContextOptions = {},
): TestContext<z.output<S>> {
  const parsed = plugin.params.safeParse(params)
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'params'}: ${message}`)
    throw new EvsysError('PLUGIN_PARAMS', `params of "${plugin.kind ?? 'the plugin'}": ${faults.join('; ')}`, {
      fix: 'give params that its schema accepts.',
    })
  }
  const logged: { level: LogLevel; text: string }[] = []
  return {
    params: parsed.data,
    signal,
    random: (...path) => keyedRandom(seed, ...path),
    log: (level, text) => logged.push({ level, text }),
    secret(name) {
      const value = secrets[name]
      if (value !== undefined) return value
      throw new EvsysError('SECRET_MISSING', `there is no secret ${name}`, { fix: `give secrets: { ${name}: ... }.` })
    },
    logged,
  }
}
