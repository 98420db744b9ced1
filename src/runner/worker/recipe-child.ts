// A process that looks up the plugins of recipes and reads their data, as a run would, and sends the hashes of both. It trains
// nothing. Plugins are the project's code, so this is no work for the process of a command.
import { SharedParams } from '../../algorithms/index.ts'
import { builtins } from '../../builtins/index.ts'
import { type Recipe, type RecipeHashes, type RecipeStart, recipeProtocol } from '../../contracts/index.ts'
import { rowCacheFolder } from '../../data/index.ts'
import { EvsysError, errorRecord, hashOf, keyedRandom, openRegistry, type Parent, serve } from '../../kernel/index.ts'
import { openModel } from '../train/open-model.ts'
import {
  droppedQuestions,
  equip,
  equipRenderers,
  loadAllRows,
  loadRows,
  type RunServices,
} from '../train/run-context.ts'
import { usedPlugins } from './run-in-worker.ts'

/** Longest that a plugin may keep the event loop. */
const BLOCKED_MS = 60_000

await serve(recipeProtocol, (parent) => ({ hash: (start) => hashRecipes(start, parent) }))

async function hashRecipes(
  { project_dir, plugin_files, recipes, cache_dir }: RecipeStart,
  parent: Parent<typeof recipeProtocol>,
): Promise<null> {
  if (recipes.length === 0) return null
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
        leaks: () => droppedQuestions(recipe.benchmarks ?? []),
      },
    }
    const data = await attempt(recipe, services)
    const code_hash = used.hash() // before the engine: the code of a run is what it looks up until it starts
    const engine_id = data.error === undefined ? await engineOf(recipe, services) : undefined
    parent.notify('hashes', { key: recipe.key, ...data, code_hash, engine_id })
  }
  return null
}

// The lookups of a run, in the order in which it makes them.
async function attempt(
  { config, callbacks, log_store }: Recipe,
  services: RunServices,
): Promise<Pick<RecipeHashes, 'data_hash' | 'data_key' | 'error'>> {
  try {
    const { plugin: algorithm, context } = equip('algorithm', config.algorithm, services)
    const shared = SharedParams.parse(context.params)
    equip('backend', config.backend, services)
    for (const callback of [...callbacks, ...shared.callbacks]) equip('callback', callback, services)
    if (log_store !== undefined) equip('log_store', log_store, services)
    equipRenderers(config, shared, services)
    if ('takesRows' in algorithm && algorithm.takesRows === false) return {}
    if (config.mix !== undefined) {
      const { hash } = await loadAllRows(config, algorithm.rowFormat, services)
      return { data_hash: hash }
    }
    const { hash, key } = await loadRows(config.data, algorithm.rowFormat, services)
    return { data_hash: hash, data_key: key }
  } catch (error) {
    return { error: errorRecord(error) }
  }
}

/** Engines by what they are opened with: the seeds of an arm share one. */
const engines = new Map<string, Promise<string | undefined>>()

// Undefined: it cannot be opened here, or it needs a secret.
async function engineOf({ config, engine_dir }: Recipe, services: RunServices): Promise<string | undefined> {
  if (engine_dir === undefined) return undefined
  const { lora_rank } = SharedParams.parse(equip('algorithm', config.algorithm, services).context.params)
  const key = hashOf({ backend: config.backend, model: config.model, lora_rank: lora_rank ?? null })
  const opening =
    engines.get(key) ??
    openModel({ config, loraRank: lora_rank, runDir: engine_dir, services }).then(
      async (model) => {
        const { engineId } = model.backend
        await model[Symbol.asyncDispose]()
        return engineId
      },
      () => undefined,
    )
  engines.set(key, opening)
  return await opening
}
