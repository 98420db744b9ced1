// The built-in plugins of this room, a list per folder.
import { judgePlugins } from './judge/plugins.ts'
import { proposePlugins } from './propose/plugins.ts'
import { searchPlugins } from './search/plugins.ts'

export const researchPlugins = [...searchPlugins, ...judgePlugins, ...proposePlugins] as const
