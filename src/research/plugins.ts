// The built-in plugins of this room, a list per folder.
import { searchPlugins } from './search/plugins.ts'

export const researchPlugins = [...searchPlugins] as const
