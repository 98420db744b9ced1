// The plugins that a command can name: built-ins, the project's own, and those that an experiment names.
import { type Catalog, EvsysError, openCatalog, type PluginReference } from '../kernel/index.ts'
import { allBuiltins } from '../research/index.ts'
import type { CommandContext } from './command-context.ts'

export type CatalogScope = {
  readonly projectDir: string | undefined
  readonly plugins?: readonly PluginReference[]
}

/** Opens a catalog for `work` and closes it after. */
export async function withCatalog<T>(
  context: CommandContext,
  { projectDir, plugins = [] }: CatalogScope,
  work: (catalog: Catalog) => Promise<T>,
): Promise<T> {
  const timeoutMs = readTimeout(context.env.EVSYS_PLUGIN_TIMEOUT_MS)
  return await context.holding('the plugin loader', async () => {
    await using catalog = await openCatalog({
      builtins: await allBuiltins(),
      plugins,
      signal: context.signal,
      ...(projectDir === undefined ? {} : { projectDir }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    })
    return await work(catalog)
  })
}

// For plugins that load slowly on a slow machine, and for impatient tests.
function readTimeout(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new EvsysError('CLI_USAGE', `EVSYS_PLUGIN_TIMEOUT_MS is "${text}"`, {
    fix: 'give it milliseconds as a whole number, such as 60000, or unset it.',
  })
}
