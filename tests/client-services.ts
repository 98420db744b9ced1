// The services that clients are opened with, for tests: the built-in clients, secrets by name, and a log to look at.
import type { AnyPlugin } from '../src/contracts/index.ts'
import { createRegistry, EvsysError, keyedRandom, type PluginServices } from '../src/kernel/index.ts'
import { inferenceClients } from '../src/models/plugins.ts'

export function clientServices(
  secrets: Readonly<Record<string, string>> = {},
  plugins: readonly AnyPlugin[] = [],
): PluginServices & { readonly logged: string[] } {
  const registry = createRegistry()
  for (const plugin of inferenceClients) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
  for (const plugin of plugins) registry.add(plugin, { rank: 'project', label: 'test' })
  const logged: string[] = []
  return {
    registry,
    logged,
    signal: new AbortController().signal,
    random: (...path) => keyedRandom(1, ...path),
    log: (level, text) => logged.push(`${level} ${text}`),
    secret(name) {
      const value = secrets[name]
      if (value === undefined) throw new EvsysError('SECRET_MISSING', `the secret ${name} is not set`)
      return value
    },
  }
}
