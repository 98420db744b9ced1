// The built-in plugins of this room.
import { docker } from './environments/docker.ts'
import { inline } from './environments/inline.ts'
import { local } from './environments/local.ts'

export const rolloutPlugins = [inline, local, docker] as const
