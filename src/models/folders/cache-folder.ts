import { homedir } from 'node:os'
import { join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/** Where evsys keeps what it can make again, for all projects of a user. `EVSYS_CACHE` names another place. */
export function cacheFolder(env: Environment = process.env): string {
  if (env.EVSYS_CACHE) return env.EVSYS_CACHE
  if (env.XDG_CACHE_HOME) return join(env.XDG_CACHE_HOME, 'evsys')
  if (process.platform === 'win32' && env.LOCALAPPDATA) return join(env.LOCALAPPDATA, 'evsys', 'cache')
  const home = env.HOME || homedir()
  return process.platform === 'darwin' ? join(home, 'Library', 'Caches', 'evsys') : join(home, '.cache', 'evsys')
}
