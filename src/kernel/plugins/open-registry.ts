// Built-ins and the plugins of a project, loaded into this process and ready to be looked up. For processes that exist to run
// them; the controller has a catalog.
import type { AnyPlugin } from '../../contracts/index.ts'
import { EvsysError, type Problem } from '../evsys-error.ts'
import { builtInHash } from './built-in-hash.ts'
import { type LoadPluginsOptions, loadPlugins } from './load-plugins.ts'
import { createRegistry, type Registry } from './registry.ts'

export interface OpenRegistry {
  readonly registry: Registry
  /** The hash of a plugin's code and of all it imports. */
  hashOf(plugin: AnyPlugin): string
  /** Files that could not be loaded and plugins that could not be used. */
  readonly problems: readonly Problem[]
  /** Every file that was read. */
  readonly files: readonly string[]
}

/** Loads the plugins of a project beside `builtins`. What fails is a problem; the rest works. */
export async function openRegistry({
  builtins,
  ...options
}: LoadPluginsOptions & { builtins: readonly AnyPlugin[] }): Promise<OpenRegistry> {
  const registry = createRegistry()
  const hashes = new Map<AnyPlugin, string>()
  for (const plugin of builtins) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
  const loaded = await loadPlugins(options)
  const problems = [...loaded.problems]
  for (const { plugin, origin, hash } of loaded.plugins) {
    hashes.set(plugin, hash)
    try {
      registry.add(plugin, origin)
    } catch (error) {
      if (!EvsysError.is(error)) throw error
      problems.push(...error.problems)
    }
  }
  return { registry, problems, files: loaded.files, hashOf: (plugin) => hashes.get(plugin) ?? builtInHash(plugin) }
}
