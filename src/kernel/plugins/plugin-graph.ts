// What a plugin file imports, and the hash over all of it. Files of its project or package count by content, npm packages by
// name and version. Nothing is run.
//
// Imports are read off the transpiled text, where every form of import (type-only ones are gone by then, as they are at run
// time) has become a call with a literal. A literal in a comment or text that happens to look like such a call can only add a
// file to the hash, never hide one.
import { readFileSync, realpathSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, extname, join, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { hashOf, sha256 } from '../hash.ts'
import { isHostModule } from './host-modules.ts'
import { hostVersion } from './host-package.ts'
import { createPluginJiti } from './plugin-jiti.ts'

export type PluginGraph = {
  /** Independent of where the project stands; changes with every file and package version below. */
  hash: string
  /** The plugin file and everything of its project or package that it imports, absolute. */
  files: string[]
  /** Modules that no file was found for, as written. The host's own are among them where the project has none. */
  missing: string[]
}

/** Reads `file` and what it imports, on and on. `root` is the folder of its project or package. */
export function readPluginGraph(file: string, { root, cacheDir }: { root: string; cacheDir?: string }): PluginGraph {
  const contents: Record<string, string> = {}
  const packages = new Set<string>()
  const missing = new Set<string>()
  const files = [file]
  for (const each of files) {
    const bytes = readFileSync(each)
    contents[relative(root, each).split(sep).join('/')] = sha256(bytes)
    for (const specifier of importsOf(each, bytes, cacheDir)) {
      if (isBuiltin(specifier)) continue
      if (isHostModule(specifier)) packages.add(`evsys@${hostVersion()}`)
      const target = isHostModule(specifier) ? undefined : resolveFrom(each, specifier)
      const name = target === undefined ? undefined : packageOf(target, root)
      if (target === undefined) missing.add(specifier)
      else if (name !== undefined) packages.add(name)
      else if (!files.includes(target)) files.push(target)
    }
  }
  return {
    hash: hashOf({ entry: relative(root, file).split(sep).join('/'), files: contents, packages: [...packages].sort() }),
    files,
    missing: [...missing],
  }
}

const call = /\b(?:jitiImport|jitiESMResolve|require|import)\s*\(\s*(["'`])((?:\\.|(?!\1)[^\\\n])*)\1/g

function importsOf(file: string, bytes: Uint8Array, cacheDir: string | undefined): string[] {
  if (!/^\.[cm]?[jt]sx?$/.test(extname(file))) return []
  // The very call that loading makes, so that it finds the result in the cache.
  const code = createPluginJiti(file, cacheDir === undefined ? {} : { cacheDir }).transform({
    filename: file,
    source: new TextDecoder().decode(bytes),
    ts: /\.[cm]?tsx?$/.test(file),
    async: true,
    jsx: false,
  })
  return [...new Set(Array.from(code.matchAll(call), ([, , specifier = '']) => specifier))]
}

function resolveFrom(file: string, specifier: string): string | undefined {
  try {
    const url = createPluginJiti(file, {}).esmResolve(specifier, { parentURL: pathToFileURL(file), try: true })
    return url === undefined ? undefined : realpathSync(fileURLToPath(url))
  } catch {
    return undefined // a malformed specifier: loading will say so
  }
}

/** `name@version` of the npm package that a file belongs to; undefined for files of the project or package itself. */
function packageOf(file: string, root: string): string | undefined {
  const within = relative(root, file)
  const isInside = !within.startsWith(`..${sep}`)
  const path = isInside ? `${sep}${within}` : file
  if (!path.includes(`${sep}node_modules${sep}`)) return undefined
  for (let folder = dirname(file); folder !== root && dirname(folder) !== folder; folder = dirname(folder)) {
    const manifest = readManifest(join(folder, 'package.json'))
    if (manifest !== undefined) return manifest
  }
  return undefined
}

function readManifest(path: string): string | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (typeof manifest !== 'object' || manifest === null) return undefined
    const name: unknown = Reflect.get(manifest, 'name')
    // Folders inside a package may have a nameless package.json, to say how their files are to be read.
    return typeof name === 'string' ? `${name}@${String(Reflect.get(manifest, 'version'))}` : undefined
  } catch {
    return undefined
  }
}
