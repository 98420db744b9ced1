// The plugin files and packages that an experiment names, for whoever opens the catalog.
import type { PluginReference } from '../kernel/index.ts'
import type { LoadedExperiment } from './load-experiment.ts'
import { nodeAt, textOf } from './located.ts'
import { itemsOf } from './plugin-uses.ts'
import { locationOf } from './report.ts'

/** What `plugins:` names: files by absolute path, packages by name, each with the folder and the place it was named in. */
export function pluginReferences({ trees }: LoadedExperiment): PluginReference[] {
  return itemsOf(nodeAt(trees.root, ['plugins'])).flatMap((node) => {
    const spec = textOf(node)
    if (spec === undefined) return []
    return [{ spec, from: node.origin.source.dir, where: locationOf(node.origin) }]
  })
}
