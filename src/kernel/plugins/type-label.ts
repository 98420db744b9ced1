// Plugin types in sentences and commands.
import type { PluginType } from '../../contracts/index.ts'

/** A type of plugin in words: `data_source` is a "data source". */
export function typeLabel(type: PluginType): string {
  return type.replaceAll('_', ' ')
}

/** A type of plugin as `evsys list` takes it: `strategies`. */
export function typePlural(type: PluginType): string {
  return type.endsWith('y') ? `${type.slice(0, -1)}ies` : `${type}s`
}
