// Fetches a model from the Hugging Face hub into the cache that all Hugging Face tools share. Explicit: nothing else in evsys
// downloads. Files are checked against the hub's digests, and the revision's name is written last, so that a download that was
// cut short is never taken for a model.
import { mkdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import {
  type Clock,
  EvsysError,
  fileError,
  hubCacheFolder,
  messageOf,
  retry,
  systemClock,
  systemRandom,
  writeFileAtomic,
} from '../../kernel/index.ts'
import { checkRevision, type HubFile, isRepository, repositoryFolder, storeHubFile } from './hub-cache.ts'

export interface DownloadModelOptions {
  /** Branch, tag or commit. Default `main`. */
  readonly revision?: string | undefined
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  readonly signal?: AbortSignal | undefined
  readonly clock?: Clock | undefined
  /** Called before each file. */
  readonly onFile?: ((file: { path: string; sizeBytes: number }) => void) | undefined
}

/** A model in the cache. */
export interface DownloadedModel {
  readonly folder: string
  readonly source: 'hub'
  readonly commit: string
}

// What a model in Hugging Face form consists of. Other formats of the same weights stay away.
const wantedFile = /^(?!consolidated|\.)[\w-][\w.-]*\.(?:json|safetensors|jinja|txt|model)$/
const mostFiles = 5000

const Commit = z.looseObject({ sha: z.string().regex(/^[0-9a-f]{40}$/) })
const Entry = z.looseObject({
  type: z.string(),
  path: z.string(),
  size: z.int().min(0),
  oid: z.string().optional(),
  lfs: z.looseObject({ oid: z.string() }).optional(),
})

// The part of the library that is used; its own types do not resolve under Node's module rules.
type Access = { hubUrl?: string | undefined; accessToken?: string | undefined; fetch: typeof fetch }
type Repository = Access & { repo: { type: 'model'; name: string }; revision: string }
type Hub = {
  modelInfo(params: Access & { name: string; revision: string; additionalFields: string[] }): Promise<unknown>
  listFiles(params: Repository): AsyncIterable<unknown>
  downloadFile(params: Repository & { path: string }): Promise<Blob | null>
}

/** Downloads what is missing of a model and returns its folder. */
export async function downloadModel(name: string, options: DownloadModelOptions = {}): Promise<DownloadedModel> {
  const { revision = 'main', env = process.env, signal = new AbortController().signal, onFile } = options
  checkName(name, revision, env)
  const hub = (await import('@huggingface/hub')) as unknown as Hub // its types do not resolve: see above
  const access: Access = {
    ...(env.HF_ENDPOINT ? { hubUrl: env.HF_ENDPOINT } : {}),
    ...(env.HF_TOKEN ? { accessToken: env.HF_TOKEN } : {}),
    fetch: (input, init) => fetch(input, { ...init, signal }),
  }
  const attempt = <T>(work: () => Promise<T>): Promise<T> =>
    retry(() => asHubError(name, signal, work), { signal, random: systemRandom, clock: options.clock ?? systemClock })
  const info = await attempt(() => hub.modelInfo({ ...access, name, revision, additionalFields: ['sha'] }))
  const commit = parsed(Commit, info, name).sha
  const repository = { ...access, repo: { type: 'model' as const, name }, revision: commit }
  const root = repositoryFolder(hubCacheFolder(env), name)
  const folder = join(root, 'snapshots', commit)
  for (const file of await attempt(() => listWanted(hub, repository, name))) {
    signal.throwIfAborted()
    if (await exists(join(folder, file.path))) continue
    onFile?.({ path: file.path, sizeBytes: file.sizeBytes })
    await attempt(async () => {
      const content = await hub.downloadFile({ ...repository, path: file.path })
      if (content === null) throw problem(name, `${file.path} is listed, but not there`)
      await storeHubFile(root, commit, file, content.stream())
    })
  }
  if (revision !== commit) await writeReference(join(root, 'refs', revision), commit)
  return { folder, source: 'hub', commit }
}

async function listWanted(hub: Hub, repository: Repository, name: string): Promise<HubFile[]> {
  const files: HubFile[] = []
  for await (const item of hub.listFiles(repository)) {
    const { type, path, size, oid, lfs } = parsed(Entry, item, name)
    if (type !== 'file' || !wantedFile.test(path)) continue
    const digest = lfs?.oid ?? oid
    if (digest === undefined || !/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(digest))
      throw problem(name, `${path} has no digest`)
    files.push({ path, sizeBytes: size, digest })
    if (files.length > mostFiles) throw problem(name, `it has more than ${mostFiles} files`)
  }
  if (files.length === 0) throw problem(name, 'it holds no files of a model')
  return files
}

async function writeReference(path: string, commit: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true })
  } catch (cause) {
    throw fileError('make', dirname(path), cause)
  }
  await writeFileAtomic(path, commit)
}

async function exists(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile()
  } catch {
    return false // absent, or a link to nothing: it is fetched
  }
}

function checkName(name: string, revision: string, env: NonNullable<DownloadModelOptions['env']>): void {
  checkRevision(revision)
  if (!isRepository(name)) throw problem(name, 'this is no name of the hub', 'use ORG/NAME as the hub shows it.')
  if (env.HF_TOKEN && !env.HF_TOKEN.startsWith('hf_')) {
    throw problem(name, 'HF_TOKEN holds no token of the hub', 'tokens begin with hf_; or unset it.')
  }
  if (env.HF_HUB_OFFLINE === '1') {
    throw problem(name, 'HF_HUB_OFFLINE forbids it', 'unset HF_HUB_OFFLINE, or copy the model to a folder.')
  }
}

function parsed<S extends z.ZodType>(schema: S, value: unknown, name: string): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw problem(name, 'the hub answered in an unknown form')
}

// What the network does may pass; what the hub says of the request does not.
async function asHubError<T>(name: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (signal.aborted || EvsysError.is(cause)) throw cause
    const status: unknown = Reflect.get(Object(cause), 'statusCode')
    const isFinal = typeof status === 'number' && status < 500 && status !== 408 && status !== 429
    const fix = isFinal
      ? 'check the name and the revision; for a model that needs consent set HF_TOKEN.'
      : 'check the network (HF_ENDPOINT names another server), then try again: what was fetched is kept.'
    const reason = typeof status === 'number' ? `the hub answered ${status}` : messageOf(cause)
    throw new EvsysError('MODEL_MISSING', `cannot download ${name}: ${reason}`, { cause, fix, retryable: !isFinal })
  }
}

function problem(name: string, reason: string, fix = 'try again later, or copy the model to a folder.'): EvsysError {
  return new EvsysError('MODEL_MISSING', `cannot download ${JSON.stringify(name)}: ${reason}`, { fix })
}
