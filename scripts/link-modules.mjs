// Links modules, compiled or as they are written, into few files: what is started or imported from outside stays where it was, what these share goes into
// `chunks/`. A process then reads tens of files instead of hundreds, which is most of what a start takes.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix, relative, sep } from 'node:path'
import { rolldown } from 'rolldown'
import { directImports } from './direct-imports.mjs'
import { shareChunks } from './share-chunks.mjs'

/** Packages with native code, that are found by their path, or that few processes load: they stay packages. */
const external = [
  /^node:/,
  /^@photostructure\//,
  /^pg(\/|$)/,
  /^jiti(\/|$)/,
  /^@huggingface\//,
  /^@modelcontextprotocol\//,
]

const place = /"evsys:place:([^"]+)"/g

/**
 * Links the modules below `from` into `to`; returns the folders of the packages that went in.
 * @param {{ from: string, to: string, entries: readonly string[], extension?: 'js' | 'ts' }} options
 *   `entries`: paths below `from`, without extension
 * @returns {Promise<string[]>}
 */
export async function linkModules({ from, to, entries, extension = 'js' }) {
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map((name) => [name, join(from, `${name}.${extension}`)])),
    platform: 'node',
    external,
    transform: { target: 'es2023' },
    plugins: [directImports(), keepPlaces(from, entries)],
    onLog() {},
  })
  const { output } = await bundle.write({
    dir: to,
    format: 'esm',
    codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: chunkOf(from, entries, extension) }] },
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    minify: false,
  })
  const modules = output.flatMap((file) => (file.type === 'chunk' ? Object.keys(file.modules) : []))
  return [...new Set(modules.flatMap((id) => id.match(/^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? []))].sort()
}

/**
 * A module finds files by where it was compiled to, not by the chunk that it went into. Modules that it starts have to be entries.
 * @param {string} from
 * @param {readonly string[]} entries
 * @returns {import('rolldown').Plugin}
 */
function keepPlaces(from, entries) {
  return {
    name: 'keep-places',
    transform(code, id) {
      if (!id.startsWith(from) || id.includes('/node_modules/') || !code.includes('import.meta.url')) return null
      const file = relative(from, id).split(sep).join('/').replace(/\.ts$/, '.js')
      for (const [, name] of code.matchAll(/`\.\/([\w-]+)\$\{/g)) {
        const started = posix.join(posix.dirname(file), name ?? '')
        if (!entries.includes(started)) throw new Error(`${file} starts ${started}, which is no entry: see entriesOf`)
      }
      const at = JSON.stringify(`evsys:place:${file}`)
      return { code: code.replaceAll('import.meta.url', at), map: null }
    },
    renderChunk(code, { fileName }) {
      const here = posix.dirname(fileName)
      const url = (/** @type {string} */ file) => JSON.stringify(posix.relative(here, file))
      return code.replace(place, (_, file) => `new URL(${url(file)}, import.meta.url).href`)
    },
  }
}

/**
 * Names the chunk of each of our modules; packages go into chunks of their own.
 * @param {string} from
 * @param {readonly string[]} entries
 * @param {string} extension
 * @returns {import('rolldown').CodeSplittingNameFunction}
 */
function chunkOf(from, entries, extension) {
  /** @type {Map<string, string> | undefined} */
  let chunks
  return (id, context) => {
    chunks ??= chunksOf(context)
    return chunks.get(id) ?? null
  }

  /** @param {Parameters<import('rolldown').CodeSplittingNameFunction>[1]} context */
  function chunksOf(context) {
    const files = entries.map((name) => join(from, `${name}.${extension}`))
    const later = new Set()
    const modules = new Map()
    const reached = new Set(files)
    for (const id of reached) {
      const info = context.getModuleInfo(id)
      if (info === null) continue
      const imports = info.importedIds.filter(isLinked)
      modules.set(id, { id, bytes: info.code?.length ?? 0, imports, isPackage: id.includes('/node_modules/') })
      for (const each of imports) reached.add(each)
      for (const each of info.dynamicallyImportedIds.filter(isLinked)) {
        reached.add(each)
        later.add(each)
      }
    }
    // An index of a room is there for other programs; processes and what is imported on demand are what a user waits for.
    const started = files.filter((file) => !/\/index\.[jt]s$/.test(file) || later.has(file) || dirname(file) === from)
    const starts = [...new Set([...started, ...later])].map((id) => ({ id, weight: isProcess.test(id) ? 5 : 1 }))
    const shared = shareChunks(modules, starts)
    for (const file of files) shared.delete(file)
    return shared
  }
}

const isProcess = /-(child|thread)\.[jt]s$/

/** No module of Node and no package that stays outside. @param {string} id */
const isLinked = (id) => !external.some((pattern) => pattern.test(id))

/**
 * What is started or imported from outside of the sources: public entries, rooms, the program, processes and threads.
 * @param {string} src
 * @returns {string[]} paths below `src`, without extension
 */
export function entriesOf(src) {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).map((file) => file.split(sep).join('/'))
  const isEntry = (/** @type {string} */ file) =>
    /^[^/]+\.ts$/.test(file) ||
    /^([^/]+|contracts\/[^/]+)\/index\.ts$/.test(file) ||
    file === 'cli/start.ts' ||
    /-(child|thread|engine-module)\.ts$/.test(file)
  return files
    .filter((file) => isEntry(file) && !/\.test(-d)?\.ts$/.test(file))
    .map((file) => file.replace(/\.ts$/, ''))
    .sort()
}

/**
 * The licences of packages, as their authors ask for where their code is passed on.
 * @param {readonly string[]} packages folders
 */
export function licencesOf(packages) {
  return packages
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
      const text = file === undefined ? `Licence: ${license}` : readFileSync(join(folder, file), 'utf8').trim()
      return `${name} ${version}\n\n${text}\n`
    })
    .join(`\n${'-'.repeat(80)}\n\n`)
}
