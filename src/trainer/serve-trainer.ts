// A trainer of real models, on a port of this machine: base models in folders, as the Hugging Face libraries write them, and
// checkpoints as PEFT reads them.
import { readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { parseTinkerPath } from '../contracts/tinker/index.ts'
import { exportAdapter, exportMerged, readModelConfig } from '../engine/index.ts'
import { EvsysError, messageOf, temporaryFolder } from '../kernel/index.ts'
import { openChatTemplate, openTokenizer, readChatTemplate, resolveModelFolder } from '../models/index.ts'
import type { ArchiveFiles } from './archive/archive-files.ts'
import type { Trainer } from './create-trainer.ts'
import { CheckpointFolder } from './state/checkpoint-files.ts'
import type { ModelCatalog, ModelText, ServedModel } from './state/served-model.ts'

export type ServeOptions = {
  /** 0: any free port. */
  port: number
  /** Default: this machine alone. */
  host?: string | undefined
  /** Listens here, for those who can reach the file, and on no port. */
  socketPath?: string | undefined
}

export type TrainerServer = AsyncDisposable & { readonly url: string }

/** Listens until it is disposed of. The trainer is the opener's to close. */
export async function serveTrainer(
  trainer: Trainer,
  { port, host = '127.0.0.1', socketPath }: ServeOptions,
): Promise<TrainerServer> {
  const server = createServer(getRequestListener((request) => trainer.fetch(request), { overrideGlobalObjects: false }))
  // Polls are held for half a minute, and clients keep their connections for much longer.
  server.keepAliveTimeout = 120_000
  server.requestTimeout = 300_000
  const address = await new Promise<AddressInfo | string | null>((resolve, reject) => {
    server.once('error', (cause) => {
      const message = `cannot listen on ${socketPath ?? `${host}:${port}`}: ${messageOf(cause)}`
      reject(new EvsysError('BACKEND_FAILED', message, { cause, fix: 'choose another port.' }))
    })
    const listening = () => resolve(server.address())
    if (socketPath === undefined) server.listen(port, host, listening)
    else server.listen(socketPath, listening)
  })
  return {
    url: urlOf(address),
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

function urlOf(address: AddressInfo | string | null): string {
  if (typeof address !== 'object' || address === null) return 'http://localhost'
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
}

export type FolderCatalog = ModelCatalog & {
  /** The folder of each model, by name. */
  readonly folders: Readonly<Record<string, string>>
}

/** Finds the models of these names, or says which is missing. Tokenizers are opened when they are first needed. */
export async function openFolderCatalog(names: readonly string[], project: string): Promise<FolderCatalog> {
  const models = new Map<string, ServedModel>()
  const folders: Record<string, string> = {}
  for (const name of new Set(names)) {
    const { folder, source } = await resolveModelFolder(name, { project })
    const { family, vocabSize, maxPositions, eosTokens } = await readModelConfig(folder)
    let text: Promise<ModelText> | undefined
    folders[name] = folder
    models.set(name, {
      name,
      arch: family,
      vocabSize,
      maxContext: maxPositions,
      tokenizerId: source === 'hub' ? name : folder,
      stop: eosTokens,
      text() {
        text ??= openText(folder)
        return text
      },
    })
  }
  return { folders, list: async () => [...models.values()], find: async (name) => models.get(name) }
}

async function openText(folder: string): Promise<ModelText> {
  const tokenizer = await openTokenizer(folder)
  const template = await readChatTemplate(folder)
  return { tokenizer, renderer: template === undefined ? undefined : await openChatTemplate({ tokenizer, template }) }
}

/** Checkpoints of real models: an adapter as PEFT reads it, or the whole model where all of it was trained. */
export function peftFiles(folders: Readonly<Record<string, string>>): ArchiveFiles {
  return async (bytes, { base_model, lora }) => {
    const parent = temporaryFolder('archive')
    const folder = join(parent, 'files')
    try {
      const baseFolder = folders[base_model] ?? base_model
      const { signal } = new AbortController() // ends with its writing, which is short
      if (lora === undefined) await exportMerged({ checkpoint: bytes, baseFolder, folder, signal })
      else await exportAdapter(bytes, folder)
      const names = (await readdir(folder)).sort()
      return await Promise.all(names.map(async (name) => ({ name, bytes: await readFile(join(folder, name)) })))
    } finally {
      await rm(parent, { recursive: true, force: true })
    }
  }
}

/** Writes a checkpoint of a trainer's folder as files that other programs read, into a new folder; returns their names. */
export async function exportCheckpoint(options: {
  /** Of the trainer. */
  dir: string
  /** `tinker://` path. */
  path: string
  /** Base model, and where relative folders of models start from. */
  model: string
  project: string
  /** Must not exist. */
  folder: string
}): Promise<string[]> {
  const { dir, path, model, project, folder } = options
  const kept = new CheckpointFolder(join(dir, 'runs'))
  const parsed = parseTinkerPath(path)
  const entry = parsed === undefined ? undefined : await kept.find(parsed)
  if (entry === undefined) {
    throw new EvsysError('FILE_FAILED', `the weights of ${path} are not in ${dir} any more`, {
      fix: 'choose another checkpoint: `evsys checkpoint list`.',
    })
  }
  const bytes = await kept.read(entry)
  if (entry.run.lora === undefined) {
    const { folder: baseFolder } = await resolveModelFolder(model, { project })
    await exportMerged({ checkpoint: bytes, baseFolder, folder, signal: new AbortController().signal })
  } else await exportAdapter(bytes, folder)
  return (await readdir(folder)).sort()
}
