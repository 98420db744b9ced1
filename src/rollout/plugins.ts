// The built-in plugins of this room.
import { inline } from './environments/inline.ts'
import { local } from './environments/local.ts'

export const rolloutPlugins = [inline, local] as const
