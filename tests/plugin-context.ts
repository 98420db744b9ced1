// What a plugin function is handed, for tests: params through the plugin's own schema, keyed randomness, a log to look at.
import type * as z from 'zod'
import type { Context, LogLevel } from '../src/contracts/index.ts'
import { keyedRandom } from '../src/kernel/index.ts'

type TestContext<P> = Context<P> & { readonly logged: readonly { level: LogLevel; text: string }[] }

/** The context of a plugin with the given params, seed 1 and a signal that never aborts unless told otherwise. */
export function pluginContext<S extends z.ZodType>(
  plugin: { readonly params: S },
  params: z.input<S> | Record<string, never> = {},
  {
    seed = 1,
    signal = new AbortController().signal,
  }: { seed?: number | undefined; signal?: AbortSignal | undefined } = {},
): TestContext<z.output<S>> {
  const logged: { level: LogLevel; text: string }[] = []
  return {
    params: plugin.params.parse(params),
    signal,
    random: (...path) => keyedRandom(seed, ...path),
    log: (level, text) => logged.push({ level, text }),
    secret: (name) => {
      throw new Error(`no secret ${name} in tests`)
    },
    logged,
  }
}
