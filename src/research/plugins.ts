// The built-in plugins of this room, a list per folder.
import { proposePlugins } from './propose/plugins.ts'
import { searchPlugins } from './search/plugins.ts'

export const researchPlugins = [...searchPlugins, ...proposePlugins] as const
