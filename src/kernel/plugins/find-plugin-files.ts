// Which files hold the plugins of an experiment: `src/plugins/*` of the project, and what `plugins:` names, a file or an npm
// package. It reads folders and package.json alone and runs nothing.
import type { Dirent } from 'node:fs'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import * as z from 'zod'
import type { Location } from '../../contracts/index.ts'
import { EvsysError, messageOf, type Problem } from '../evsys-error.ts'
import { systemCode } from '../file-error.ts'
import { suggest } from '../suggest.ts'
import { createPluginJiti } from './plugin-graph.ts'

/** A plugin file or package that is named: `./lib/dedupe.ts`, `acme-plugins`. */
export type PluginReference = {
  spec: string
  from: string
  where?: Location | undefined
}

/** A file that plugins are loaded from. */
export type PluginFile = {
  /** Absolute, with symbolic links resolved. */
  file: string
  /** How people know it: relative to the project, or the package it is part of. */
  label: string
  rank: 'project' | 'package'
  /** Folder of its project or package: what it imports from there is part of it. */
  root: string
  /** Where the experiment names it; absent of a file that was found in `src/plugins`. */
  where?: Location | undefined
}

const codeFile = /\.(?:[cm]?[jt]s)$/
const pluginFile = /^[^.].*\.m?[jt]s$/
const otherFile = /\.d\.m?ts$|\.(?:test|test-d|spec)\.m?[jt]s$/

/** Every plugin file once, those of `src/plugins` first. What cannot be found is a problem, not an exception. */
export async function findPluginFiles({
  projectDir,
  plugins = [],
}: {
  projectDir?: string | undefined
  plugins?: readonly PluginReference[] | undefined
}): Promise<{ files: PluginFile[]; problems: Problem[] }> {
  const found = projectDir === undefined ? [] : await discover(projectDir)
  const named = await Promise.all(plugins.map((plugin) => locatePlugin(plugin, projectDir ?? plugin.from)))
  const files = new Map<string, PluginFile>()
  const problems: Problem[] = []
  for (const each of [...found, ...named]) {
    if (EvsysError.is(each)) problems.push(...each.problems)
    else if (!files.has(each.file)) files.set(each.file, each)
  }
  return { files: [...files.values()], problems }
}

async function discover(projectDir: string): Promise<(PluginFile | EvsysError)[]> {
  const folder = join(projectDir, 'src', 'plugins')
  let entries: Dirent[]
  try {
    entries = await readdir(folder, { withFileTypes: true })
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT' || systemCode(cause) === 'ENOTDIR') return [] // a project needs no plugins
    return [cannotLoad(`the folder ${folder} cannot be read: ${messageOf(cause)}`, { cause })]
  }
  const names = entries
    .filter((entry) => !entry.isDirectory() && pluginFile.test(entry.name) && !otherFile.test(entry.name))
    .map((entry) => entry.name)
    .sort()
  return await Promise.all(names.map((name) => projectFile(join(folder, name), projectDir, undefined)))
}

/** The file that a reference names, or why there is none. */
export async function locatePlugin(
  { spec, from, where }: PluginReference,
  projectDir: string,
): Promise<PluginFile | EvsysError> {
  const isFile = /^\.{1,2}(?:[\\/]|$)/.test(spec) || isAbsolute(spec) || codeFile.test(spec)
  if (isFile) return await projectFile(resolve(from, spec), projectDir, where, spec)
  try {
    const { name, root, file } = await resolvePackage(spec, from)
    return { file, label: name, rank: 'package', root, where }
  } catch (cause) {
    return EvsysError.is(cause)
      ? new EvsysError(cause.code, cause.message, { where, cause, fix: cause.fix })
      : cannotLoad(`the package "${spec}" cannot be read: ${messageOf(cause)}`, { where, cause })
  }
}

async function projectFile(
  path: string,
  projectDir: string,
  where: Location | undefined,
  spec = path,
): Promise<PluginFile | EvsysError> {
  const place = where === undefined ? {} : { where }
  try {
    const [file, root] = await Promise.all([realpath(path), realpath(projectDir)])
    const isFolder = (await stat(file)).isDirectory()
    if (isFolder) return cannotLoad(`"${spec}" is a folder`, { ...place, fix: 'name a file in it.' })
    if (!codeFile.test(file)) {
      return cannotLoad(`"${spec}" is no plugin file`, { ...place, fix: 'plugins are .ts, .mts, .js or .mjs files.' })
    }
    return { file, label: labelOf(path, file, projectDir, root), rank: 'project', root, ...place }
  } catch (cause) {
    const fix = await nearbyFiles(path)
    const reason = systemCode(cause) === 'ENOENT' ? 'there is no such file' : messageOf(cause)
    return cannotLoad(`"${spec}" cannot be read: ${reason}`, { ...place, cause, fix })
  }
}

// As written where possible: a symbolic link in src/plugins is known by its name there.
function labelOf(path: string, file: string, projectDir: string, root: string): string {
  const written = relative(projectDir, path)
  const label = written.startsWith('..') || isAbsolute(written) ? relative(root, file) : written
  return label.split(sep).join('/')
}

async function nearbyFiles(path: string): Promise<string> {
  const names = await readdir(dirname(path)).catch(() => [])
  const files = names.filter((name) => codeFile.test(name) && !otherFile.test(name))
  if (files.length === 0)
    return 'paths are relative to the experiment file; a package is named without ./ and extension.'
  return suggest(basename(path), files)
}

function cannotLoad(message: string, options: ConstructorParameters<typeof EvsysError>[2]): EvsysError {
  return new EvsysError('PLUGIN_LOAD', message, options)
}

// The file of an npm package that exports its plugins: what its package.json names under `evsys`, else its main entry.
const Manifest = z.looseObject({ name: z.string().optional(), evsys: z.string().min(1).optional().catch(undefined) })

/** The package that `spec` (`acme-plugins`, `@acme/plugins`, `acme/evsys`) names, as seen from a folder. */
async function resolvePackage(spec: string, from: string): Promise<{ name: string; root: string; file: string }> {
  const name = /^(?:@[^/]+\/)?[^/]+/.exec(spec)?.[0] ?? spec
  const root = await packageFolder(name, from)
  if (root === undefined) {
    throw new EvsysError('PLUGIN_LOAD', `the package "${name}" is not installed`, {
      fix: `\`npm install ${name}\`, or write ./${spec} if it is a file.`,
    })
  }
  const { evsys } = Manifest.parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')))
  const entry = spec === name && evsys !== undefined ? join(root, evsys) : mainEntry(spec, from)
  const file = entry === undefined ? undefined : await realpath(entry).catch(() => undefined)
  if (file === undefined || relative(root, file).startsWith('..')) {
    throw new EvsysError('PLUGIN_LOAD', `the package "${name}" has no entry that can be loaded as "${spec}"`, {
      fix: 'its package.json names the file under "evsys", "exports" or "main".',
    })
  }
  return { name, root, file }
}

// With the conditions that an import has.
function mainEntry(spec: string, from: string): string | undefined {
  const parent = join(from, '_index.js')
  const url = createPluginJiti(parent, {}).esmResolve(spec, { parentURL: pathToFileURL(parent), try: true })
  return url === undefined ? undefined : fileURLToPath(url)
}

async function packageFolder(name: string, from: string): Promise<string | undefined> {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name)
    const isPackage = await stat(join(candidate, 'package.json')).then(
      (found) => found.isFile(),
      () => false,
    )
    if (isPackage) return await realpath(candidate)
    if (dirname(folder) === folder) return undefined
  }
}

// Paths as people type them: relative to the folder they work in where the file lies below it.
function shownPath(file: string): string {
  const path = relative(process.cwd(), file)
  return path === '' || path.startsWith(`..${sep}`) || path === '..' || isAbsolute(path) ? file : path
}

/** The same with the path of its place shortened. */
export function shownPaths<P extends { where?: Location | undefined }>(problem: P): P {
  const { where } = problem
  return where === undefined || !isAbsolute(where.file)
    ? problem
    : { ...problem, where: { ...where, file: shownPath(where.file) } }
}
