// Plugins of a project, loaded into this process. That is for processes which exist to run them: the controller only
// looks at plugins, through a child (plugin-host.ts). Loading registers nothing.
import type { AnyPlugin } from '../../contracts/index.ts'
import { EvsysError, type Problem } from '../evsys-error.ts'
import { suggest } from '../suggest.ts'
import { checkPlugin } from './check-plugin.ts'
import { findPluginFiles, locatePlugin, type PluginReference, shownPaths } from './find-plugin-files.ts'
import { builtInHash } from './host-modules.ts'
import { placeOfLine } from './load-problem.ts'
import { type LoadedPlugin, namedExports, preparePlugin } from './prepare-plugin.ts'
import { createRegistry, type Registry } from './registry.ts'

export type LoadPluginsOptions = {
  projectDir?: string | undefined
  plugins?: readonly PluginReference[] | undefined
  /** False: only what `plugins` names, not what lies in `src/plugins`. */
  discover?: boolean | undefined
  /** The hash that each of the files must have: its code scores, and was looked at before any code of a recipe ran. */
  pinned?: string | undefined
  signal: AbortSignal
  /** Called with all files that will be run, before the first of them is. */
  onRead?: ((files: readonly string[]) => void) | undefined
}

export type LoadedPlugins = {
  plugins: LoadedPlugin[]
  problems: Problem[]
  /** Every file that was read for them: the plugins and what they import of their project or package. */
  files: string[]
}

/** Loads the plugins of a project and those that `plugins` names. Every file that fails is a problem; the others are loaded. */
export async function loadPlugins({
  signal,
  onRead,
  discover = true,
  pinned,
  ...options
}: LoadPluginsOptions): Promise<LoadedPlugins> {
  const { projectDir, ...named } = options
  const { files, problems } = await findPluginFiles(discover ? options : named)
  const plugins: LoadedPlugin[] = []
  const prepared = await Promise.all(files.map((file) => preparePlugin(file, projectDir, pinned)))
  const read = [...new Set(prepared.flatMap((each) => each.files))]
  onRead?.(read)
  for (const each of prepared) {
    signal.throwIfAborted()
    const loaded = await each.load()
    plugins.push(...loaded.plugins)
    problems.push(...loaded.problems)
  }
  return { plugins, problems: problems.map((problem) => shownPaths(problem)), files: read }
}

/** Loads one export of a file: `./src/plugins/agent.ts#ToolUse`, or its default export without `#`. It must be a plugin. */
export async function loadExport(
  reference: string,
  options: { from: string; projectDir?: string | undefined },
): Promise<AnyPlugin> {
  const { file, value } = await exportOf(reference, options)
  const result = checkPlugin(value)
  if ('plugin' in result) return result.plugin
  throw EvsysError.many(result.problems.map((problem) => shownPaths({ ...problem, ...placeOfLine(file, 1) })))
}

/** Loads one export of a file, whatever it is: `./tools.ts#search`, or its default export without `#`. */
export async function loadValue(
  reference: string,
  options: { from: string; projectDir?: string | undefined },
): Promise<unknown> {
  return (await exportOf(reference, options)).value
}

async function exportOf(
  reference: string,
  { from, projectDir = from }: { from: string; projectDir?: string | undefined },
): Promise<{ file: string; value: unknown }> {
  const [, path = reference, name = 'default'] = /^(.*?)(?:#([^#]*))?$/s.exec(reference) ?? []
  const file = await locatePlugin({ spec: path, from }, projectDir)
  if (EvsysError.is(file)) throw file
  const prepared = await preparePlugin(file, projectDir)
  const { [name]: value, ...others } = namedExports(await prepared.exports())
  if (value !== undefined) return { file: file.file, value }
  throw new EvsysError('PLUGIN_INVALID', `${path} has no export called "${name}"`, {
    ...shownPaths(placeOfLine(file.file, 1)),
    fix: suggest(name, Object.keys(others)),
  })
}

// Built-ins and the plugins of a project, loaded into this process and ready to be looked up. For processes that exist to run
// them; the controller has a catalog.
export interface OpenRegistry {
  readonly registry: Registry
  /** The hash of a plugin's code and of all it imports. */
  hashOf(plugin: AnyPlugin): string
  /** Files that could not be loaded and plugins that could not be used. */
  readonly problems: readonly Problem[]
  readonly files: readonly string[]
}

/** Loads the plugins of a project beside `builtins`. What fails is a problem; the rest works. */
export async function openRegistry({
  builtins,
  ...options
}: LoadPluginsOptions & { builtins: readonly AnyPlugin[] }): Promise<OpenRegistry> {
  const registry = createRegistry()
  const hashes = new Map<AnyPlugin, string>()
  for (const plugin of builtins) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
  const loaded = await loadPlugins(options)
  const problems = [...loaded.problems]
  for (const { plugin, origin, hash } of loaded.plugins) {
    hashes.set(plugin, hash)
    try {
      registry.add(plugin, origin)
    } catch (error) {
      if (!EvsysError.is(error)) throw error
      problems.push(...error.problems)
    }
  }
  return { registry, problems, files: loaded.files, hashOf: (plugin) => hashes.get(plugin) ?? builtInHash(plugin) }
}
