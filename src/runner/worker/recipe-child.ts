// A process that looks up the plugins of recipes and reads their data, as a run would, and sends the hashes of both. It trains
// nothing. Plugins are the project's code, so this is no work for the process of a command.
import { SharedParams } from '../../algorithms/index.ts'
import { builtins } from '../../builtins/index.ts'
import { type Recipe, type RecipeHashes, type RecipeStart, recipeProtocol } from '../../contracts/index.ts'
import { rowCacheFolder } from '../../data/index.ts'
import { EvsysError, errorRecord, keyedRandom, openRegistry, type Parent, serve } from '../../kernel/index.ts'
import { equip, equipRenderers, loadRows, type RunServices } from '../train/run-context.ts'
import { usedPlugins } from './run-in-worker.ts'

/** Longest that a plugin may keep the event loop. */
const BLOCKED_MS = 60_000

await serve(recipeProtocol, (parent) => ({ hash: (start) => hashRecipes(start, parent) }))

async function hashRecipes(
  { project_dir, plugin_files, recipes, cache_dir }: RecipeStart,
  parent: Parent<typeof recipeProtocol>,
): Promise<null> {
  const watchdog = parent.watch({ timeoutMs: BLOCKED_MS })
  watchdog.keepTime()
  const { signal } = new AbortController()
  const plugins = await openRegistry({
    builtins: await builtins(),
    projectDir: project_dir,
    plugins: plugin_files,
    signal,
    onRead: (files) => watchdog.know(files),
  })
  for (const recipe of recipes) {
    const used = usedPlugins(plugins, recipe.config, project_dir)
    const services: RunServices = {
      registry: used.registry,
      signal,
      random: (...path) => keyedRandom(recipe.config.seed, ...path),
      log: () => {},
      secret(name) {
        throw new EvsysError('SECRET_MISSING', `it needs the secret ${name}, which is not used to look at data`)
      },
      data: {
        projectDir: project_dir,
        cache: { dir: cache_dir ?? rowCacheFolder(project_dir), seed: recipe.config.seed, codeHash: plugins.hashOf },
      },
    }
    const data = await attempt(recipe, services)
    parent.notify('hashes', { key: recipe.key, ...data, code_hash: used.hash() })
  }
  return null
}

// The lookups of a run, in the order in which it makes them.
async function attempt(
  { config, callbacks }: Recipe,
  services: RunServices,
): Promise<Pick<RecipeHashes, 'data_hash' | 'data_key' | 'error'>> {
  try {
    const { plugin: algorithm, context } = equip('algorithm', config.algorithm, services)
    const shared = SharedParams.parse(context.params)
    equip('backend', config.backend, services)
    for (const callback of [...callbacks, ...shared.callbacks]) equip('callback', callback, services)
    equipRenderers(config, shared, services)
    if ('takesRows' in algorithm && algorithm.takesRows === false) return {}
    const { hash, key } = await loadRows(config.data, algorithm.rowFormat, services)
    return { data_hash: hash, data_key: key }
  } catch (error) {
    return { error: errorRecord(error) }
  }
}
