// By which code and data runs would be made today.
import { dirname, extname } from 'node:path'
import { type Recipe, type RecipeHashes, type RecipeStart, recipeProtocol } from '../../contracts/index.ts'
import { EvsysError, guardedProcess, openChild, type PluginReference } from '../../kernel/index.ts'
import { pluginFilesOf } from './worker-process.ts'
import { besideWorkers, ownRows, type WorkerSandbox } from './worker-sandbox.ts'

const heapMb = 2048
const memoryMb = 4096
/** A source that never ends must not be waited for. */
const longestMs = 10 * 60_000

/** Hashes for every recipe that could be loaded; those that a plugin took down with it are missing. */
export async function recipeHashes(
  recipes: readonly Recipe[],
  {
    projectDir,
    plugins,
    hidden = [],
    sandbox,
    signal,
    cacheDir,
  }: {
    projectDir: string
    plugins: readonly PluginReference[]
    /** Paths that the code of recipes must not see. */
    hidden?: readonly string[] | undefined
    /** How recipe code is shut in; absent: it is not. */
    sandbox?: WorkerSandbox | undefined
    signal: AbortSignal
    cacheDir?: string | undefined
  },
): Promise<RecipeHashes[]> {
  const found: RecipeHashes[] = []
  const start: RecipeStart = {
    project_dir: projectDir,
    plugin_files: pluginFilesOf(plugins),
    recipes: [...recipes],
    cache_dir: cacheDir,
  }
  const questions = recipes.flatMap(({ benchmarks = [] }) =>
    benchmarks.map(({ tasks_file: file }) => file && dirname(file)),
  )
  const engines = new Set(recipes.flatMap(({ engine_dir: folder }) => (folder === undefined ? [] : [dirname(folder)])))
  const write = [...(cacheDir === undefined ? [] : [ownRows(cacheDir)]), ...[...engines].map((folder) => ({ folder }))]
  const child = openChild({
    protocol: recipeProtocol,
    start: guardedProcess({
      script: new URL(`../../runner/worker/recipe-child${extname(import.meta.url)}`, import.meta.url),
      cwd: projectDir,
      hidden,
      sandbox: sandbox && besideWorkers(sandbox, { read: questions, write }),
      heapMb,
      memoryMb,
    }),
    handlers: { hashes: (hashes) => void found.push(hashes) },
    deathOf: ({ printed }) =>
      new EvsysError('WORKER_DIED', `the process that loads recipes could not be started: ${printed}`),
  })
  try {
    await child.call('hash', start, { signal, onAbort: 'kill', timeoutMs: longestMs })
  } catch (error) {
    signal.throwIfAborted()
    if (child.end?.stopped === 'not started') throw error // what it says against itself is the work of a recipe, as its death is
  } finally {
    await child.close()
  }
  return found
}
