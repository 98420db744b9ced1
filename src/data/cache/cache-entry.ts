// An entry of a cache: a folder under its key that is whole or not there. It is filled under a temporary name and renamed into
// place when all of it, the manifest last, is on disk. So a process that is killed while it writes leaves nothing that counts, and
// of two that write the same entry at once the first one's is kept.
import { mkdir, open, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { basename, join } from 'node:path'
import * as z from 'zod'
import {
  fileError,
  fileWork,
  ifPresent,
  sweepTemporary,
  syncFolder,
  systemClock,
  systemCode,
  temporaryPath,
} from '../../kernel/index.ts'
import { isAbsent, namesIn } from '../files/read-error.ts'

/** What every manifest says. Sizes show an entry that was damaged later; readers compare hashes as they read. */
const Envelope = z.object({
  version: z.literal(1),
  key: z.string(),
  complete: z.literal(true),
  created_at: z.iso.datetime(),
  files: z.record(z.string(), z.int().min(0)).describe('Bytes by name.'),
  body: z.unknown(),
})

export interface CacheEntry<M> {
  readonly key: string
  readonly dir: string
  readonly createdAt: string
  readonly manifest: M
}

/** The entry of a key, or undefined where there is none, or none that is whole. */
export async function findEntry<S extends z.ZodType>(
  root: string,
  key: string,
  schema: S,
): Promise<CacheEntry<z.output<S>> | undefined> {
  const own = ownCache(root)
  if (own !== root) {
    const made = await entryAt(own, key, schema)
    if (made !== undefined || dropped.has(join(root, key))) return made
  }
  return await entryAt(root, key, schema)
}

async function entryAt<S extends z.ZodType>(
  root: string,
  key: string,
  schema: S,
): Promise<CacheEntry<z.output<S>> | undefined> {
  const dir = join(root, key)
  const envelope = Envelope.safeParse(await readManifest(dir))
  if (!envelope.success || envelope.data.key !== key) return undefined
  const body = schema.safeParse(envelope.data.body)
  if (!body.success) return undefined
  for (const [name, bytes] of Object.entries(envelope.data.files)) {
    if ((await sizeOf(join(dir, name))) !== bytes) return undefined
  }
  return { key, dir, createdAt: envelope.data.created_at, manifest: body.data }
}

/** Entries of a cache that cannot be written which turned out to be damaged. */
const dropped = new Set<string>()

/**
 * Where entries are written. A process that runs foreign code may read the caches of its project and not write them: other runs would
 * train on what it puts there. Those who start it give it a folder of its own for what it makes.
 */
function ownCache(root: string): string {
  const folder = process.env.EVSYS_OWN_CACHE
  return folder === undefined ? root : join(folder, basename(root))
}

/** Makes an entry: `fill` writes its files into a folder and returns what the manifest says of them. */
export async function writeEntry<S extends z.ZodType>(
  shared: string,
  schema: S,
  fill: (dir: string) => Promise<{ key: string; files: readonly string[]; manifest: z.input<S> }>,
): Promise<CacheEntry<z.output<S>>> {
  const root = ownCache(shared)
  await fileWork('make', root, () => mkdir(root, { recursive: true }))
  await sweepTemporary(root)
  const part = temporaryPath(root)
  try {
    await fileWork('make', part, () => mkdir(part))
    const { key, files, manifest } = await fill(part)
    const sizes: Record<string, number> = {}
    for (const name of files) sizes[name] = (await sizeOf(join(part, name))) ?? 0
    const createdAt = new Date(systemClock.now()).toISOString()
    const envelope = { version: 1, key, complete: true, created_at: createdAt, files: sizes, body: manifest }
    await writeSynced(join(part, 'manifest.json'), `${JSON.stringify(envelope, null, 2)}\n`)
    await syncFolder(part)
    await moveIntoPlace(root, part, key, schema)
    const entry = await findEntry(root, key, schema)
    if (entry === undefined) throw Object.assign(new Error('it changed while it was written'), { code: 'EIO' })
    return entry
  } catch (cause) {
    await rm(part, { recursive: true, force: true }).catch(() => {}) // the first failure is the one to report
    throw systemCode(cause) === undefined ? cause : fileError('write', root, cause)
  }
}

/** Notes that an entry was used: the cache is collected by the time of the last use. */
export async function touchEntry({ dir }: Pick<CacheEntry<unknown>, 'dir'>): Promise<void> {
  const now = new Date(systemClock.now())
  await utimes(join(dir, 'manifest.json'), now, now).catch(() => {}) // a cache that cannot be written can be read
}

/** Removes an entry that turned out to be damaged. */
export async function dropEntry(shared: string, key: string): Promise<void> {
  const root = ownCache(shared)
  if (root !== shared) dropped.add(join(shared, key))
  const away = temporaryPath(root) // renamed first: what is half deleted must not be found
  await ifPresent('remove', join(root, key), () => rename(join(root, key), away))
  await rm(away, { recursive: true, force: true })
}

async function moveIntoPlace(root: string, part: string, key: string, schema: z.ZodType): Promise<void> {
  for (;;) {
    try {
      await rename(part, join(root, key))
      await syncFolder(root)
      return
    } catch (cause) {
      if (!['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(systemCode(cause) ?? '')) throw cause
      if ((await sizeOf(join(root, key))) === undefined) throw cause
    }
    // Another process was faster, or an entry that cannot be read stands in the way.
    if ((await findEntry(root, key, schema)) !== undefined) {
      await rm(part, { recursive: true, force: true })
      return
    }
    await dropEntry(root, key)
  }
}

async function readManifest(dir: string): Promise<unknown> {
  const path = join(dir, 'manifest.json')
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (cause) {
    if (cause instanceof SyntaxError || isAbsent(cause)) return undefined
    throw fileError('read', path, cause)
  }
}

async function writeSynced(path: string, text: string): Promise<void> {
  await using file = await open(path, 'wx')
  await file.writeFile(text)
  await file.sync()
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size
  } catch (cause) {
    if (isAbsent(cause)) return undefined
    throw fileError('inspect', path, cause)
  }
}

// Where a project keeps what can be made again from its data.
const cacheFolder = (name: string) => (projectDir: string) => join(projectDir, '.evsys', 'cache', name)

/** Rows after their transforms. */
export const rowCacheFolder = cacheFolder('datasets')
/** Rows that plugins of the project made to be compared with benchmarks. Apart: a run makes its own. */
export const checkedRowsFolder = cacheFolder('checked')
/** What was found when rows were compared with benchmarks. */
export const leakCacheFolder = cacheFolder('leaks')
/** Rows as the tokens of a model. */
export const tokenCacheFolder = cacheFolder('tokens')
/** Splits that research tasks made of their data. */
export const taskCacheFolder = cacheFolder('tasks')

// Garbage collection: entries that were not used for a while are deleted. What is missing is made again.
/** Removes the entries of a project's caches that were last used before a time, and what dead writers left. */
export async function collectCache(
  projectDir: string,
  { before, signal }: { before: string; signal: AbortSignal },
): Promise<{ entries: number; bytes: number }> {
  const beforeMs = Date.parse(before)
  let entries = 0
  let bytes = 0
  for (const folderOf of [rowCacheFolder, tokenCacheFolder, leakCacheFolder, checkedRowsFolder, taskCacheFolder]) {
    const root = folderOf(projectDir)
    await sweepTemporary(root)
    for (const key of await namesIn(root)) {
      signal.throwIfAborted()
      const used = await lastUse(join(root, key))
      if (key.startsWith('.') || used === undefined || used >= beforeMs) continue
      bytes += await folderSize(join(root, key))
      await dropEntry(root, key)
      entries++
    }
  }
  return { entries, bytes }
}

async function lastUse(dir: string): Promise<number | undefined> {
  try {
    return (await stat(join(dir, 'manifest.json'))).mtimeMs
  } catch (cause) {
    if (isAbsent(cause)) return undefined
    throw fileError('inspect', dir, cause)
  }
}

async function folderSize(dir: string): Promise<number> {
  const sizes = (await namesIn(dir, { recursive: true })).map(async (name) => {
    const found = await stat(join(dir, name)).catch(() => undefined)
    return found?.isFile() === true ? found.size : 0
  })
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
