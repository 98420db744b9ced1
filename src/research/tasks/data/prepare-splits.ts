// Train, val and test of a task, made once by its `prepare` module and kept in the cache of the project under a key of everything
// that decides them. What was made is hashed: the hash is part of the hash of the task.
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import * as z from 'zod'
import type { TaskData } from '../../../contracts/index.ts'
import { dropEntry, findEntry, taskCacheFolder, touchEntry, writeEntry } from '../../../data/index.ts'
import {
  EvsysError,
  guardedProcess,
  hashOf,
  lastPrinted,
  messageOf,
  openChild,
  sha256,
  temporaryFolder,
} from '../../../kernel/index.ts'
import { digestOf, fetchSource, fileNameOf } from './fetch-source.ts'
import { moduleHash } from './module-hash.ts'
import { type PrepareStart, prepareProtocol } from './prepare-protocol.ts'

const Manifest = z.strictObject({ hashes: z.record(z.string(), z.string()) })

/** Folders of the splits, and the hash of all that is in them. */
export interface PreparedSplits {
  readonly dir: string
  readonly hash: string
}

export interface PrepareOptions {
  readonly projectDir: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  /** Folders that `prepare` has to fill. */
  readonly folders?: readonly string[] | undefined
  /** Called before data is fetched. */
  readonly onNotice?: ((text: string) => void) | undefined
}

/** The splits of a task, from the cache or made now. `dir` is the folder of the task. */
export async function prepareSplits(dir: string, data: TaskData, options: PrepareOptions): Promise<PreparedSplits> {
  const { folders = ['train', 'val', 'test'] } = options
  const root = taskCacheFolder(options.projectDir)
  const key = await keyOf(dir, data, options)
  const known = await findEntry(root, key, Manifest)
  if (known !== undefined) {
    if (await isIntact(known.dir, known.manifest.hashes)) {
      await touchEntry(known)
      return { dir: known.dir, hash: hashOf(known.manifest.hashes) }
    }
    await dropEntry(root, key)
  }
  const work = temporaryFolder('data')
  try {
    if (data.sources.length > 0) options.onNotice?.(`getting the data: ${data.sources.map(fileNameOf).join(' or ')}`)
    const source = data.sources.length === 0 ? undefined : await fetchSource(data.sources, { ...options, folder: work })
    const entry = await writeEntry(root, Manifest, async (out) => {
      for (const folder of folders) await mkdir(join(out, folder), { recursive: true })
      const start = { module: join(dir, data.prepare), out, source }
      await runPrepare(start, options.signal)
      const hashes = await hashesIn(out)
      for (const folder of folders) {
        if (!Object.keys(hashes).some((path) => path.startsWith(`${folder}/`)))
          throw new EvsysError('DATA_INVALID', `${data.prepare} wrote nothing into ${folder}/`)
      }
      return { key, files: Object.keys(hashes), manifest: { hashes } }
    })
    return { dir: entry.dir, hash: hashOf(entry.manifest.hashes) }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

// A file of EVSYS_DATA_DIR without a digest is known by its content.
async function keyOf(dir: string, { sources, prepare }: TaskData, { env }: PrepareOptions): Promise<string> {
  const digests = await Promise.all(
    sources.map(async (source) => {
      const digest = digestOf(source)
      if (digest !== undefined || !env.EVSYS_DATA_DIR) return digest ?? null
      return await readFile(join(env.EVSYS_DATA_DIR, fileNameOf(source))).then(sha256, () => null)
    }),
  )
  return hashOf({ digests, prepare: await moduleHash(join(dir, prepare)) })
}

async function isIntact(dir: string, hashes: Readonly<Record<string, string>>): Promise<boolean> {
  const { 'manifest.json': _, ...found } = await hashesIn(dir)
  return hashOf(found) === hashOf(hashes)
}

async function hashesIn(dir: string): Promise<Record<string, string>> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  const hashes: Record<string, string> = {}
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath ?? entry.path, entry.name)
    const name = path.slice(dir.length + 1).replaceAll(sep, '/')
    hashes[name] = sha256(await readFile(path))
  }
  return hashes
}

/** Reading and writing some hundred MB takes seconds; what takes this long hangs. */
const prepareMs = 10 * 60_000

async function runPrepare(start: PrepareStart, signal: AbortSignal): Promise<void> {
  const child = openChild({
    protocol: prepareProtocol,
    start: guardedProcess({
      script: new URL(`./prepare-child${extname(import.meta.url)}`, import.meta.url),
      heapMb: 2048,
      memoryMb: 6144,
      onPrinted: () => true,
    }),
    handlers: {},
    deathOf: (end) => new Error(lastPrinted(end) || `it ended with ${end.code ?? end.signal}`),
  })
  try {
    await child.call('prepare', start, { signal, onAbort: 'kill', timeoutMs: prepareMs })
  } catch (cause) {
    signal.throwIfAborted()
    throw new EvsysError('DATA_INVALID', `${start.module} made no splits: ${messageOf(cause)}`, {
      fix: 'correct the module; it is called with `{ source, out }` and fills out/train, out/val and out/test.',
    })
  } finally {
    await child.close()
  }
}
