// The project that a command works in: the one of --project, else the nearest above a folder.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { findProject } from '../../config/index.ts'
import { PluginType } from '../../contracts/index.ts'
import {
  type Catalog,
  type Clock,
  EvsysError,
  fileError,
  openCatalog,
  type PluginReference,
  suggest,
  systemCode,
  typePlural,
} from '../../kernel/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { shortPath } from '../output/text.ts'
import type { CommandContext } from './command-context.ts'

/** Folder of the project, or undefined outside of one. */
export async function projectOf({ project, cwd }: CommandContext): Promise<string | undefined> {
  if (project === undefined) {
    const nearest = await findProject(cwd)
    const signs = await Promise.all(
      ['.evsys', 'experiments', 'src/plugins'].map((name) => isFolder(join(nearest, name))),
    )
    return signs.includes(true) ? nearest : undefined
  }
  if (await isFolder(project)) return project
  throw new EvsysError('PROJECT_MISSING', `--project: there is no folder ${project}`, {
    fix: 'check the spelling, or make a project there with `evsys init`.',
  })
}

/** Folder of the project, or an error that says how to make one. */
export async function requireProject(context: CommandContext): Promise<string> {
  const project = await projectOf(context)
  if (project !== undefined) return project
  throw new EvsysError('PROJECT_MISSING', `${context.cwd} is not in a project`, {
    fix: 'make one with `evsys init`, go to one, or name one with --project.',
  })
}

/** Folder of the project; outside of one it is made where we are, and said: bundled tasks need nothing of a project but its record. */
export async function projectOrHere(context: CommandContext): Promise<string> {
  const project = await projectOf(context)
  if (project !== undefined) return project
  context.output.notice(`the record of this session is kept in ${join(context.cwd, '.evsys')}`)
  return context.cwd
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (cause) {
    const code = systemCode(cause)
    if (code === 'ENOENT' || code === 'ENOTDIR') return false
    throw fileError('open', path, cause)
  }
}

// The record of the project that a command works in.
interface RecordOptions {
  /** Makes the record where there is none; without it a project that never ran anything has an empty one. */
  readonly create?: boolean | undefined
  readonly clock?: Clock | undefined
  /** Absent: the project that the command works in. */
  readonly project?: string | undefined
}

/** Opens the record for `work` and closes it after. */
export async function withRecord<T>(
  context: CommandContext,
  { create = false, clock, project: given }: RecordOptions,
  work: (record: { store: OpenStore; project: string; file: string }) => Promise<T>,
): Promise<T> {
  const project = given ?? (await requireProject(context))
  const file = join(project, '.evsys', 'evsys.db')
  return await context.holding('the record', async () => {
    const { openStore } = await loadStore()
    const address = create || (await isThere(file)) ? file : ':memory:'
    await using store = await openStore(address, { clock, signal: context.signal })
    const { from, to, backup } = store.migrated
    if (backup !== undefined) {
      const copy = shortPath(backup, context.cwd)
      context.output.notice(`the record was brought from version ${from} to ${to}; the old one is kept as ${copy}`)
    }
    context.signal.throwIfAborted()
    return await work({ store, project, file })
  })
}

// Most commands need neither before they open them. Not inside the functions above: TypeScript leaves the extension of an import
// as it is beside an `await using`.
function loadStore(): Promise<typeof import('../../store/index.ts')> {
  return import('../../store/index.ts')
}

function loadResearch(): Promise<typeof import('../../research/index.ts')> {
  return import('../../research/index.ts')
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return false
    throw fileError('open', path, cause)
  }
}

// The plugins that a command can name: built-ins, the project's own, and those that an experiment names.
type CatalogScope = {
  readonly projectDir: string | undefined
  readonly plugins?: readonly PluginReference[] | undefined
}

/** Opens a catalog for `work` and closes it after. */
export async function withCatalog<T>(
  context: CommandContext,
  { projectDir, plugins = [] }: CatalogScope,
  work: (catalog: Catalog) => Promise<T>,
): Promise<T> {
  const { signal, env } = context
  const timeoutMs = readTimeout(env.EVSYS_PLUGIN_TIMEOUT_MS)
  return await context.holding('the plugin loader', async () => {
    const { allBuiltins } = await loadResearch()
    const builtins = await allBuiltins()
    const place = () => placeOfPlugins({ projectDir, plugins })
    await using catalog = await openCatalog({ builtins, plugins, place, signal, projectDir, timeoutMs })
    return await work(catalog)
  })
}

// Where its process lives, asked only where there are plugins to load.
async function placeOfPlugins(scope: CatalogScope) {
  const { findProcessLevel, pluginPlace } = await import('../../sandbox/index.ts')
  const { cacheFolder } = await import('../../models/index.ts')
  return pluginPlace((await findProcessLevel('auto', { keptIn: cacheFolder() })).level, scope)
}

// For plugins that load slowly on a slow machine, and for impatient tests.
function readTimeout(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new EvsysError('CLI_USAGE', `EVSYS_PLUGIN_TIMEOUT_MS is "${text}"`, {
    fix: 'give it milliseconds as a whole number, such as 60000, or unset it.',
  })
}

// Plugin types as people type them: singular or plural, with - or _.
/** Every plugin type in the plural. */
export function pluralTypes(): string[] {
  return PluginType.options.map(typePlural)
}

/** The type that a word names, or an error with the one that was probably meant. */
export function readPluginType(
  word: string,
  { what = 'plugin type', others = [] }: { what?: string | undefined; others?: readonly string[] | undefined } = {},
): PluginType {
  const wanted = word.toLowerCase().replaceAll('-', '_')
  const found = PluginType.options.find((type) => type === wanted || typePlural(type) === wanted)
  if (found !== undefined) return found
  throw new EvsysError('CLI_USAGE', `there is no ${what} "${word}"`, {
    fix: suggest(word, [...others, ...pluralTypes()], { more: '`evsys list` shows all plugins.' }),
  })
}
