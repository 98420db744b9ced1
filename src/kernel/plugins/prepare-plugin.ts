// One plugin file in two steps: reading it and all it imports, which gives the hash, and running it. The first step runs
// nothing, so that a plugin cannot change the hashes of those that are prepared before it is loaded.
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
export function preparePlugin(file: PluginFile, projectDir: string | undefined): PreparedPlugin {
  const cacheDir = projectDir === undefined ? undefined : pluginCacheDir(projectDir)
  const cache = cacheDir === undefined ? {} : { cacheDir }
  const graph = readGraph(file, cache)
  if (EvsysError.is(graph)) {
    const { problems } = graph
    return {
      file,
      hash: '',
      files: [file.file],
      load: async () => ({ plugins: [], problems: [...problems] }),
      exports: () => Promise.reject(graph),
    }
  }

  const exports = async (): Promise<unknown> => {
    let offered: string[] = []
    try {
      const modules = await loadHostModules(graph.missing)
      offered = Object.values(modules).flatMap((module) => Object.keys(Object(module)))
      const jiti = createPluginJiti(file.file, { ...cache, modules, isOwn: (id) => isOwn(id, file, graph) })
      await jiti.import(file.file)
      return jiti.cache[file.file]?.exports // as the file left it, without jiti's stand-in for default exports
    } catch (cause) {
      throw EvsysError.many(loadProblems(cause, file.file, { files: graph.files, offered }), { cause })
    }
  }

  const load = async () => {
    try {
      const { plugins, problems } = readExports(file.file, await exports())
      const loaded = plugins.map(({ plugin, place }): LoadedPlugin => {
        return { plugin, origin: { rank: file.rank, label: file.label, where: place.where }, hash: graph.hash }
      })
      return { plugins: loaded, problems }
    } catch (cause) {
      const problems = EvsysError.is(cause)
        ? [...cause.problems]
        : loadProblems(cause, file.file, { files: graph.files })
      return { plugins: [], problems }
    }
  }
  return { file, hash: graph.hash, files: graph.files, load, exports }
}

function readGraph(file: PluginFile, cache: { cacheDir?: string }): PluginGraph | EvsysError {
  try {
    return readPluginGraph(file.file, { root: file.root, ...cache })
  } catch (cause) {
    return EvsysError.many(loadProblems(cause, file.file), { cause })
  }
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
