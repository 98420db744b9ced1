// The lab cannot know the plugins of rooms above it: whoever lists or opens any plugin takes them from here.
import type { AnyPlugin } from '../contracts/index.ts'
import { builtins } from '../lab/index.ts'
import { researchPlugins } from './plugins.ts'

/** Every plugin that comes with evsys: those that an experiment can name, then those of the research loop. */
export async function allBuiltins(): Promise<readonly AnyPlugin[]> {
  return Object.freeze([...(await builtins()), ...researchPlugins])
}
