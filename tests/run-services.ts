// The services of a run, for tests: built-in plugins and those of the test.

import { builtins } from '../src/builtins/index.ts'
import type { AnyPlugin } from '../src/contracts/index.ts'
import { createRegistry, keyedRandom } from '../src/kernel/index.ts'
import type { RunServices } from '../src/runner/train/run-context.ts'

export async function runServices(
  plugins: readonly AnyPlugin[] = [],
  secrets: Readonly<Record<string, string>> = {},
): Promise<RunServices & { readonly logged: readonly string[] }> {
  const registry = createRegistry()
  for (const plugin of await builtins()) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
  for (const plugin of plugins) registry.add(plugin, { rank: 'project', label: 'test' })
  const logged: string[] = []
  return {
    registry,
    logged,
    signal: new AbortController().signal,
    random: (...path) => keyedRandom(1, ...path),
    log: (level, text) => logged.push(`${level} ${text}`),
    secret: (name) => secrets[name] ?? '',
  }
}
