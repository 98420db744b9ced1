import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, mkdir, open, readdir, realpath, rename, unlink } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import * as z from 'zod'
import type { DataConfig, OpenDataStore } from '../../contracts/index.ts'
import {
  defineDataStore,
  EvsysError,
  equipPlugin,
  fileError,
  hashOf,
  type PluginServices,
  syncFolder,
  systemCode,
} from '../../kernel/index.ts'
import { fileStats, isAbsent, readError } from '../files/read-error.ts'

/** Files of this machine. */
export const localStore = defineDataStore({
  kind: 'local',
  summary: 'Reads and writes files below one folder of this machine; a file is replaced as a whole or not at all.',
  params: z.strictObject({
    root: z
      .string()
      .min(1)
      .default('.')
      .describe('Folder that all paths are below, relative to the file that names it.'),
  }),
  open: async ({ params, signal }) => openLocal(resolve(params.root), signal),
})

function openLocal(root: string, signal: AbortSignal): OpenDataStore {
  return {
    async *read(path) {
      const file = await inside(root, path)
      await fileStats(file, path)
      try {
        for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024, signal })) yield chunk
      } catch (cause) {
        if (signal.aborted) throw signal.reason
        throw readError(path, cause)
      }
    },
    async write(path, bytes) {
      const file = await inside(root, path)
      try {
        await mkdir(dirname(file), { recursive: true })
        await writeStream(file, bytes, signal)
      } catch (cause) {
        if (signal.aborted || EvsysError.is(cause)) throw cause
        throw fileError('write', path, cause)
      }
    },
    async exists(path) {
      try {
        return (await lstat(await inside(root, path))).isFile()
      } catch (cause) {
        if (isAbsent(cause)) return false
        throw readError(path, cause)
      }
    },
    async *list(prefix) {
      yield* filesBelow(root, root, prefix, signal)
    },
    async [Symbol.asyncDispose]() {},
  }
}

// Symbolic links may lead anywhere; what counts is where the nearest existing folder really is.
async function inside(root: string, path: string): Promise<string> {
  const file = join(root, ...checkedPath(path).split('/'))
  let existing = file
  for (;;) {
    try {
      const [real, realRoot] = await Promise.all([realpath(existing), realpath(root)])
      if (real === realRoot || real.startsWith(realRoot.endsWith(sep) ? realRoot : realRoot + sep)) return file
      throw new EvsysError('DATA_READ', `${path} leads out of the data store`, { fix: 'remove the symbolic link.' })
    } catch (cause) {
      if (systemCode(cause) !== 'ENOENT' || existing === root) {
        if (systemCode(cause) === 'ENOENT') return file // the root itself is yet to be made
        throw EvsysError.is(cause) ? cause : readError(path, cause)
      }
      existing = dirname(existing)
    }
  }
}

// Written beside the target and renamed over it: a reader, also one after a crash, sees the old file or the new one.
async function writeStream(file: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
  const temporary = join(dirname(file), `.evsys-part-${randomBytes(8).toString('hex')}`)
  try {
    {
      await using handle = await open(temporary, 'wx')
      for await (const chunk of bytes) {
        signal.throwIfAborted()
        await handle.appendFile(chunk)
      }
      await handle.sync()
    }
    await rename(temporary, file)
  } catch (cause) {
    await unlink(temporary).catch(() => {}) // the first failure is the one to report
    throw cause
  }
  await syncFolder(dirname(file))
}

async function* filesBelow(root: string, dir: string, prefix: string, signal: AbortSignal): AsyncGenerator<string> {
  signal.throwIfAborted()
  const entries = await readdir(dir, { withFileTypes: true }).catch((cause: unknown) => {
    if (systemCode(cause) === 'ENOENT') return []
    throw readError(relative(root, dir) || '.', cause)
  })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = relative(root, join(dir, entry.name)).split(sep).join('/')
    if (entry.isDirectory() && (prefix.startsWith(`${path}/`) || path.startsWith(prefix))) {
      yield* filesBelow(root, join(dir, entry.name), prefix, signal)
    } else if (entry.isFile() && path.startsWith(prefix) && !entry.name.startsWith('.evsys-')) yield path
  }
}

/** Files that live as long as the store is open. */
export const inMemoryStore = defineDataStore({
  kind: 'in_memory',
  summary: 'Keeps files in memory until it is closed; for tests and trials.',
  params: z.strictObject({}),
  open: async ({ signal }) => openInMemory(signal),
})

function openInMemory(signal: AbortSignal): OpenDataStore {
  const files = new Map<string, Uint8Array>()
  return {
    async *read(path) {
      signal.throwIfAborted()
      const bytes = files.get(checkedPath(path))
      if (bytes === undefined) throw readError(path, Object.assign(new Error(), { code: 'ENOENT' }))
      yield bytes.slice()
    },
    async write(path, bytes) {
      const target = checkedPath(path)
      const chunks: Uint8Array[] = []
      for await (const chunk of bytes) {
        signal.throwIfAborted()
        chunks.push(chunk.slice())
      }
      files.set(target, Buffer.concat(chunks)) // only once all of it is there
    },
    async exists(path) {
      return files.has(checkedPath(path))
    },
    async *list(prefix) {
      for (const path of [...files.keys()].sort()) if (path.startsWith(prefix)) yield path
    },
    async [Symbol.asyncDispose]() {
      files.clear()
    },
  }
}

// Paths inside a data store: relative, with `/`, and never out of it.
/** The path itself, or an error where it is absolute, steps up, or holds what no file name can. */
function checkedPath(path: string): string {
  const steps = path.split('/')
  const isSound = steps.every((step) => step !== '' && step !== '.' && step !== '..' && !/[\\\0]/.test(step))
  if (isSound && !/^[A-Za-z]:/.test(path)) return path
  throw new EvsysError('DATA_READ', `"${path}" is not a path inside the data store`, {
    fix: 'write a relative path with /, without . and ..: `datasets/train.jsonl`.',
  })
}

/** Copies of what data blocks read from stores. */
export function storeFolder(projectDir: string): string {
  // Where the caches of the project cannot be written: a folder of this process.
  return join(process.env.EVSYS_OWN_CACHE ?? join(projectDir, '.evsys', 'cache'), 'stores')
}

/**
 * Where the `path` of a data block lies on this machine: a file or folder of its store is copied, and replaced where its content
 * has changed, so that an unchanged one is known again. Undefined where the block names no store.
 */
export async function fetchStored(
  { path, store }: Pick<DataConfig, 'path' | 'store'>,
  services: PluginServices,
  folder: string,
): Promise<string | undefined> {
  if (store === undefined || path === undefined) return undefined
  const { plugin, context } = equipPlugin('data_store', store, services)
  await using opened = await plugin.open(context)
  const root = join(folder, hashOf(store).slice(0, 16))
  const place = join(root, ...checkedPath(path).split('/'))
  const names = (await opened.exists(path)) ? [path] : await collected(opened.list(`${path}/`))
  if (names.length === 0) {
    throw new EvsysError('DATA_READ', `the data store "${store.kind}" has no ${path}`, {
      fix: 'correct `path`: it is a path inside the store, written with /.',
    })
  }
  for (const name of names) {
    const file = join(root, ...checkedPath(name).split('/'))
    await mkdir(dirname(file), { recursive: true })
    const copy = join(dirname(file), `.evsys-part-${randomBytes(8).toString('hex')}`)
    try {
      await writeStream(copy, opened.read(name), services.signal)
      if ((await contentHash(copy)) === (await contentHash(file))) await unlink(copy)
      else await rename(copy, file)
    } catch (cause) {
      await unlink(copy).catch(() => {}) // the first failure is the one to report
      throw EvsysError.is(cause) || services.signal.aborted ? cause : readError(name, cause)
    }
  }
  return place
}

async function collected(paths: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = []
  for await (const path of paths) all.push(path)
  return all
}

async function contentHash(file: string): Promise<string | undefined> {
  const digest = createHash('sha256')
  try {
    for await (const chunk of createReadStream(file)) digest.update(chunk)
  } catch (cause) {
    if (isAbsent(cause)) return undefined
    throw cause
  }
  return digest.digest('hex')
}
