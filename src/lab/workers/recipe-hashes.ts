// By which code and data runs would be made today.
import { dirname, extname } from 'node:path'
import { type Recipe, type RecipeHashes, type RecipeStart, recipeProtocol } from '../../contracts/index.ts'
import { EvsysError, guardedProcess, type HeldPlace, openChild, type PluginReference } from '../../kernel/index.ts'
import { openProcessSandbox } from '../../sandbox/index.ts'
import type { WorkerLimits } from './worker-limits.ts'
import { pluginFilesOf } from './worker-process.ts'
import { sandboxOptions, type WorkerSandbox } from './worker-sandbox.ts'

const heapMb = 2048
const memoryMb = 4096
const bytesPerMb = 1024 * 1024
/** A source that never ends must not be waited for. */
const longestMs = 10 * 60_000

/** A place in which a folder can be shown, to be written. */
export interface RecipePlace extends HeldPlace {
  show(folder: string): Promise<void>
}

/** Where workers live, for one process that loads or hashes recipes. `rows`: the folder that it makes rows in. */
export function openRecipePlace(
  sandbox: WorkerSandbox,
  { memoryMb, processes, diskMb }: Pick<WorkerLimits, 'memoryMb' | 'processes' | 'diskMb'>,
  rows?: string,
): RecipePlace {
  const limits = { memoryBytes: memoryMb * bytesPerMb, processes, diskBytes: diskMb * bytesPerMb }
  const held = openProcessSandbox(sandboxOptions(sandbox, limits))
  const own = rows === undefined ? {} : { EVSYS_OWN_CACHE: dirname(rows) } // caches are written below it, by their name
  return {
    launch: (command, env, cwd) => held.launch(command, { ...env, ...sandbox.env, ...own }, cwd),
    show: (folder) => held.show(folder, { writable: true }),
    close: () => held.close(),
  }
}

/** Hashes for every recipe that could be loaded; those that a plugin took down with it are missing. */
export async function recipeHashes(
  recipes: readonly Recipe[],
  {
    projectDir,
    plugins,
    hidden = [],
    signal,
    cacheDir,
    place,
  }: {
    projectDir: string
    plugins: readonly PluginReference[]
    /** Paths that the code of recipes must not see. */
    hidden?: readonly string[] | undefined
    signal: AbortSignal
    cacheDir?: string | undefined
    /** Where the process lives; absent: on this machine as it is. */
    place?: RecipePlace | undefined
  },
): Promise<RecipeHashes[]> {
  const found: RecipeHashes[] = []
  const start: RecipeStart = {
    project_dir: projectDir,
    plugin_files: pluginFilesOf(plugins),
    recipes: [...recipes],
    cache_dir: cacheDir,
  }
  const child = openChild({
    protocol: recipeProtocol,
    start: guardedProcess({
      script: new URL(`../../runner/worker/recipe-child${extname(import.meta.url)}`, import.meta.url),
      cwd: projectDir,
      hidden,
      sandbox: place,
      heapMb,
      memoryMb,
    }),
    handlers: { hashes: (hashes) => void found.push(hashes) },
    deathOf: ({ printed }) =>
      new EvsysError('WORKER_DIED', `the process that loads recipes could not be started: ${printed}`),
  })
  const close = async () => {
    await child.close()
    await place?.close()
  }
  try {
    if (cacheDir !== undefined && place !== undefined) {
      // What is shown before its sandbox is made can only be read: an empty question waits for that.
      await child.call('hash', { ...start, recipes: [] }, { signal, onAbort: 'kill', timeoutMs: longestMs })
      await place.show(cacheDir)
    }
  } catch (error) {
    await close()
    throw error
  }
  try {
    await child.call('hash', start, { signal, onAbort: 'kill', timeoutMs: longestMs })
  } catch (error) {
    signal.throwIfAborted()
    if (child.end?.stopped === 'not started') throw error // what it says against itself is the work of a recipe, as its death is
  } finally {
    await close()
  }
  return found
}
