// One plugin file in two steps: reading it and all it imports, which gives the hash, and running it. The first step runs
// nothing of it, so that no plugin can change the hash of another, and is not part of the time that it may take.
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'
import type { AnyPlugin } from '../../contracts/index.ts'
import { EvsysError, type Problem } from '../evsys-error.ts'
import { checkPlugin, inWords, isPlugin, resemblesPlugin } from './check-plugin.ts'
import type { PluginFile } from './find-plugin-files.ts'
import { loadHostModules } from './host-modules.ts'
import { loadProblems, type Place, placeOfText } from './load-problem.ts'
import { createPluginJiti, type PluginGraph, readPluginGraph } from './plugin-graph.ts'
import type { Origin } from './registry.ts'

/** A plugin, where it came from, and the hash of its code. */
export type LoadedPlugin = { plugin: AnyPlugin; origin: Origin; hash: string }

export type PreparedPlugin = {
  file: PluginFile
  /** Of the code as it was before any of it ran; empty where it cannot be read. */
  hash: string
  /** The file and what it imports of its project or package. */
  files: readonly string[]
  /** Runs the file. What it throws is a problem with a place. */
  load(): Promise<{ plugins: LoadedPlugin[]; problems: Problem[] }>
  /** Runs the file and returns what it exports; throws an `EvsysError`. */
  exports(): Promise<unknown>
}

/**
 * Reads a file and what it imports, without running it. Paths in problems are absolute. `pinned`: the hash that it must have. Then
 * nothing but what that hash covers is run, and no compiled code is taken from disk: recipe code may have written there.
 */
export async function preparePlugin(
  file: PluginFile,
  projectDir: string | undefined,
  pinned?: string,
): Promise<PreparedPlugin> {
  const cacheDir = projectDir === undefined || pinned !== undefined ? undefined : pluginCacheDir(projectDir)
  const cache = cacheDir === undefined ? {} : { cacheDir }
  let graph: PluginGraph
  try {
    graph = readPluginGraph(file.file, { root: file.root, ...cache })
  } catch (cause) {
    return unreadable(file, loadProblems(cause, file.file))
  }
  if (pinned !== undefined && graph.hash !== pinned) return unreadable(file, changed(file.file).problems)
  const modules = await loadHostModules(graph.missing)
  const offered = Object.values(modules).flatMap((module) => Object.keys(Object(module)))

  const run = async (): Promise<unknown> => {
    const admit = pinned === undefined ? undefined : admitOnly(graph)
    const jiti = createPluginJiti(file.file, { ...cache, modules, isOwn: (id) => isOwn(id, file, graph), admit })
    await jiti.import(file.file)
    if (pinned !== undefined) for (const each of graph.files) admit?.(each, readFileSync(each, 'utf8')) // JSON is not transpiled
    return jiti.cache[file.file]?.exports // as the file left it, without jiti's stand-in for default exports
  }
  const problemsOf = (cause: unknown) => loadProblems(cause, file.file, { files: graph.files, offered })

  return {
    file,
    hash: graph.hash,
    files: graph.files,
    async load() {
      try {
        const { plugins, problems } = readExports(file.file, await run())
        const origin: Origin = { rank: file.rank, label: file.label }
        const loaded = plugins.map(({ plugin, place: { where } }) => ({
          plugin,
          origin: { ...origin, where },
          hash: graph.hash,
        }))
        return { plugins: loaded, problems }
      } catch (cause) {
        return { plugins: [], problems: problemsOf(cause) }
      }
    },
    async exports() {
      try {
        return await run()
      } catch (cause) {
        throw EvsysError.many(problemsOf(cause), { cause })
      }
    },
  }
}

function unreadable(file: PluginFile, problems: readonly Problem[]): PreparedPlugin {
  const exports = () => Promise.reject(EvsysError.many(problems))
  return { file, hash: '', files: [file.file], load: async () => ({ plugins: [], problems: [...problems] }), exports }
}

function admitOnly({ texts }: PluginGraph): (file: string, text: string) => void {
  return (file, text) => {
    if (texts.get(realpathSync(file)) !== text) throw changed(file)
  }
}

function changed(file: string): EvsysError {
  return new EvsysError(
    'PLUGIN_CHANGED',
    'this file, or one that it imports, is not what it was when the command began',
    {
      ...placeOfText(file, []),
      fix: 'put it back and start again; look for a plugin that writes into the project. What scores imports its files by literal names.',
    },
  )
}

function isOwn(id: string, { root }: PluginFile, { files }: PluginGraph): boolean {
  if (files.includes(id)) return true
  const within = relative(root, id)
  return !within.startsWith('..') && !isAbsolute(within) && !within.split(sep).includes('node_modules')
}

/** Where transpiled plugins are kept; undefined where nothing can be written. */
export function pluginCacheDir(projectDir: string): string | undefined {
  const home = join(projectDir, '.evsys')
  try {
    if (!existsSync(home)) {
      mkdirSync(home)
      writeFileSync(join(home, '.gitignore'), '*\n')
    }
    const folder = join(home, 'cache', 'jiti')
    mkdirSync(folder, { recursive: true })
    return folder
  } catch {
    return undefined // a read-only project loads, only slower
  }
}

// The plugins that a loaded file exports: its default export, one plugin or a list, and every named export that is one.
type ExportedPlugin = { plugin: AnyPlugin; place: Place }

/** What `exports` of a file holds: plugins with their place, and what looks like one but is none. */
function readExports(file: string, exports: unknown): { plugins: ExportedPlugin[]; problems: Problem[] } {
  const named = namedExports(exports)
  const listed = 'default' in named ? asList(named.default) : []
  const values: [name: string, value: unknown][] = [
    ...listed.map((value): [string, unknown] => ['default', value]),
    ...Object.entries(named).filter(
      ([name, value]) => name !== 'default' && (isPlugin(value) || resemblesPlugin(value)),
    ),
  ]
  const plugins = new Map<AnyPlugin, ExportedPlugin>()
  const problems: Problem[] = []
  for (const [name, value] of values) {
    const result = checkPlugin(value)
    if ('plugin' in result)
      plugins.set(result.plugin, { plugin: result.plugin, place: placeOfPlugin(file, name, result.plugin) })
    else problems.push(...result.problems.map((problem) => atExport(problem, file, name)))
  }
  if (values.length === 0) problems.push(nothingExported(file, named))
  return { plugins: [...plugins.values()], problems }
}

/** Exports by name. A CommonJS file that exports a plugin or a list has it as its default. */
export function namedExports(exports: unknown): Record<string, unknown> {
  if (isPlugin(exports) || Array.isArray(exports)) return { default: exports }
  return typeof exports === 'object' && exports !== null ? { ...exports } : { default: exports }
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value]
}

function atExport(problem: Problem, file: string, name: string): Problem {
  const whose = name === 'default' ? 'the default export' : `the export "${name}"`
  return { ...problem, ...placeOfText(file, exportPatterns(name)), message: `${whose}: ${problem.message}` }
}

function placeOfPlugin(file: string, name: string, { kind }: AnyPlugin): Place {
  const literal = kind.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return placeOfText(file, [new RegExp(`\\bkind\\s*:\\s*["'\`]${literal}["'\`]`), ...exportPatterns(name)])
}

function exportPatterns(name: string): RegExp[] {
  if (name === 'default') return [/^[ \t]*export\s+default\b/m, /\bas\s+default\b/, /^[ \t]*module\.exports\b/m]
  const word = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return [
    new RegExp(`^[ \\t]*export\\s+(?:async\\s+)?(?:const|let|var|function\\*?|class)\\s+${word}(?![\\w$])`, 'm'),
    new RegExp(`^[ \\t]*(?:module\\.)?exports\\.${word}(?![\\w$])`, 'm'),
    new RegExp(`(?<![\\w$])${word}(?![\\w$])`),
  ]
}

function nothingExported(file: string, named: Record<string, unknown>): Problem {
  const names = Object.keys(named)
  const what =
    'default' in named
      ? `its default export is ${inWords(named.default)}`
      : `it exports ${names.join(', ') || 'nothing'}`
  return {
    code: 'PLUGIN_INVALID',
    message: `the file exports no plugin: ${what}`,
    fix: "export what a define* function of 'evsys/plugin' returns: export default defineTransform({ ... }). Files that only help plugins belong outside src/plugins.",
    ...placeOfText(file, exportPatterns('default')),
  }
}
