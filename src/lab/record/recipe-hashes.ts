// By which code and data runs would be made today.
import { extname } from 'node:path'
import { EvsysError, onAbort, type PluginReference, startGuardedProcess } from '../../kernel/index.ts'
import { FromRecipes, type Recipe, type RecipeHashes, type RecipeStart } from './recipe-protocol.ts'

const heapMb = 2048
const memoryMb = 4096
const printedMb = 8
/** A source that never ends must not be waited for. */
const longestMs = 10 * 60_000

/** Hashes for every recipe that could be looked at; those that a plugin took down with it are missing. */
export async function recipeHashes(
  recipes: readonly Recipe[],
  {
    projectDir,
    plugins,
    hidden = [],
    signal,
    cacheDir,
  }: {
    projectDir: string
    plugins: readonly PluginReference[]
    /** Paths that the code of recipes must not see. */
    hidden?: readonly string[]
    signal: AbortSignal
    cacheDir?: string
  },
): Promise<RecipeHashes[]> {
  const found: RecipeHashes[] = []
  let printed = 0
  let finish = () => {}
  const done = new Promise<void>((resolve) => {
    finish = resolve
  })
  const start: RecipeStart = {
    project_dir: projectDir,
    plugin_files: plugins.map(({ spec, from }) => ({ spec, from })),
    recipes: [...recipes],
    ...(cacheDir === undefined ? {} : { cache_dir: cacheDir }),
  }
  const child = startGuardedProcess({
    script: new URL(`./recipe-child${extname(import.meta.url)}`, import.meta.url),
    start,
    cwd: projectDir,
    hidden,
    heapMb,
    memoryMb,
    onPrinted(text) {
      printed += text.length
      return printed <= printedMb * 1024 * 1024
    },
    onMessage(message) {
      const told = FromRecipes.parse(message)
      if (told.type === 'done') return finish()
      const { type: _type, ...hashes } = told
      found.push(hashes)
    },
  })
  const deadline = setTimeout(() => child.stop('silent'), longestMs)
  const quiet = onAbort(signal, () => child.stop('closed'))
  try {
    const end = await Promise.race([done, child.ended])
    signal.throwIfAborted()
    if (end?.stopped === 'not started') {
      throw new EvsysError('WORKER_DIED', `the process that looks at recipes could not be started: ${end.printed}`)
    }
    return found
  } finally {
    clearTimeout(deadline)
    quiet()
    child.stop('closed')
    await child.ended
  }
}
