// One plugin file in two steps: reading it and all it imports, which gives the hash, and running it. The first step runs
// nothing of it, so that no plugin can change the hash of another, and is not part of the time that it may take.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'
import type { AnyPlugin } from '../../contracts/index.ts'
import { EvsysError, type Problem } from '../evsys-error.ts'
import type { PluginFile } from './find-plugin-files.ts'
import { loadHostModules } from './host-modules.ts'
import { loadProblems } from './load-problem.ts'
import { type PluginGraph, readPluginGraph } from './plugin-graph.ts'
import { createPluginJiti } from './plugin-jiti.ts'
import { readExports } from './read-exports.ts'
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

/** Reads a file and what it imports, without running it. Paths in problems are absolute. */
export async function preparePlugin(file: PluginFile, projectDir: string | undefined): Promise<PreparedPlugin> {
  const cacheDir = projectDir === undefined ? undefined : pluginCacheDir(projectDir)
  const cache = cacheDir === undefined ? {} : { cacheDir }
  let graph: PluginGraph
  try {
    graph = readPluginGraph(file.file, { root: file.root, ...cache })
  } catch (cause) {
    return unreadable(file, loadProblems(cause, file.file))
  }
  const modules = await loadHostModules(graph.missing)
  const offered = Object.values(modules).flatMap((module) => Object.keys(Object(module)))

  const run = async (): Promise<unknown> => {
    const jiti = createPluginJiti(file.file, { ...cache, modules, isOwn: (id) => isOwn(id, file, graph) })
    await jiti.import(file.file)
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

function unreadable(file: PluginFile, problems: Problem[]): PreparedPlugin {
  const exports = () => Promise.reject(EvsysError.many(problems))
  return { file, hash: '', files: [file.file], load: async () => ({ plugins: [], problems }), exports }
}

function isOwn(id: string, { root }: PluginFile, { files }: PluginGraph): boolean {
  if (files.includes(id)) return true
  const within = relative(root, id)
  return !within.startsWith('..') && !isAbsolute(within) && !within.split(sep).includes('node_modules')
}

/** Where transpiled plugins are kept; undefined where nothing can be written. */
function pluginCacheDir(projectDir: string): string | undefined {
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
