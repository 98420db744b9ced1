// The plugins of a scorer. A project's files are run only when something of the benchmark asks for a plugin in them: the recipe
// lies in the same folder, and its code must not run where the expected answers are. They must be what the catalog read before any
// code of the project ran.
import type { AnyPlugin, PluginCard, PluginType } from '../../contracts/index.ts'
import { builtInHash, createRegistry, EvsysError, openRegistry } from '../../kernel/index.ts'

/** A plugin of the project, known by name, what it is loaded from (a file or a package), and the hash of its code. */
export interface PluginPlace {
  readonly type: PluginType
  readonly kind: string
  readonly spec: string
  readonly hash: string
}

export type ScorerPlugins = ReturnType<typeof createScorerPlugins>

interface ScorerPluginsOptions {
  readonly builtins: readonly AnyPlugin[]
  readonly places: readonly PluginPlace[]
  readonly projectDir: string
  readonly signal: AbortSignal
  /** Called with all files that will be run, before they are. */
  onRead(files: readonly string[]): void
}

export function placesOf(cards: readonly PluginCard[]): PluginPlace[] {
  return cards
    .filter(({ origin }) => origin !== 'built-in')
    .map(({ type, kind, origin, hash }) => ({ type, kind, spec: origin, hash }))
}

export function createScorerPlugins({ builtins, places, projectDir, signal, onRead }: ScorerPluginsOptions) {
  const known = createRegistry<PluginPlace>()
  for (const place of places) known.add(place, { rank: 'project', label: place.spec })
  const registry = createRegistry()
  for (const plugin of builtins) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
  const loaded = new Set<string>()
  const read: string[] = []
  const hashes = new Map<AnyPlugin, string>()

  return {
    registry,
    hashOf: (plugin: AnyPlugin) => hashes.get(plugin) ?? builtInHash(plugin),
    /** Loads what a kind stands for, unless it is here. */
    async need(type: PluginType, kind: string): Promise<void> {
      const place = known.find(type, kind)?.plugin
      if (place === undefined || loaded.has(place.spec)) return
      const { spec, hash: pinned } = place
      loaded.add(spec)
      const opened = await openRegistry({
        builtins: [],
        projectDir,
        discover: false,
        plugins: [{ spec, from: projectDir }],
        pinned,
        signal,
        onRead(files) {
          read.push(...files)
          onRead(read)
        },
      })
      if (opened.problems.length > 0) throw EvsysError.many(opened.problems)
      for (const { plugin, origin } of opened.registry.list()) {
        registry.add(plugin, origin)
        hashes.set(plugin, opened.hashOf(plugin))
      }
    },
  }
}
