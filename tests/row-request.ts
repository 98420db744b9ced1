// A request for the rows of a data block, for tests: built-in plugins of the data room and those of the test.
import { type AnyPlugin, DataConfig, type RowFormat } from '../src/contracts/index.ts'
import { dataPlugins, type RowRequest } from '../src/data/index.ts'
import { createRegistry, keyedRandom } from '../src/kernel/index.ts'

export interface RowRequestOptions<F extends RowFormat> {
  readonly format: F
  /** Folder of the cache; absent: none. */
  readonly cacheDir?: string | undefined
  readonly projectDir?: string | undefined
  readonly seed?: number | undefined
  readonly plugins?: readonly AnyPlugin[] | undefined
  readonly codeHash?: ((plugin: AnyPlugin) => string) | undefined
}

export function rowRequest<F extends RowFormat>(data: object, options: RowRequestOptions<F>): RowRequest<F> {
  const { format, cacheDir, projectDir, seed = 1, plugins = [], codeHash = ({ kind }) => `code of ${kind}` } = options
  const registry = createRegistry()
  for (const plugin of dataPlugins) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
  for (const plugin of plugins) registry.add(plugin, { rank: 'project', label: 'test' })
  return {
    data: DataConfig.parse(data),
    format,
    services: {
      registry,
      signal: new AbortController().signal,
      random: (...path) => keyedRandom(seed, ...path),
      log: () => {},
      secret: (name) => {
        throw new Error(`no secret ${name} in tests`)
      },
    },
    ...(projectDir === undefined ? {} : { projectDir }),
    ...(cacheDir === undefined ? {} : { cache: { dir: cacheDir, seed, codeHash } }),
  }
}
