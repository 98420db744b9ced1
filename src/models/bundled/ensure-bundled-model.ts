// A bundled model as a folder. Its weights are made on first use: in a folder of their own, which takes its name in one step
// when it is whole. Processes that do so at once make the same bytes, and the first one's stay.
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { EvsysError, fileError, sha256, syncFolder, systemCode } from '../../kernel/index.ts'
import { describingFiles, folderOf } from './bundled-files.ts'
import type { BundledName } from './bundled-models.ts'
import { bundledWeights } from './bundled-weights.ts'

// From src/models/bundled and from dist/models/bundled alike.
const shipped = fileURLToPath(new URL('../../../models', import.meta.url))
const Digests = z.record(z.string(), z.string().length(64))
const weightsFile = 'model.safetensors'
const unfinishedPrefix = '.unfinished-'
const dayMs = 24 * 60 * 60 * 1000

/** The folder of a bundled model below `cache`, made if it is not there. Damaged files are made again. */
export async function ensureBundledModel(name: BundledName, cache: string): Promise<string> {
  const files = await modelFiles(name)
  // Files of another version of evsys get a folder of their own.
  const version = sha256([...files.values()].join('\n')).slice(0, 16)
  const parent = join(cache, 'models')
  const folder = join(parent, `${name.replace('/', '--')}-${version}`)
  try {
    await mkdir(parent, { recursive: true })
    await sweep(parent)
    for (let attempt = 0; attempt < 5; attempt++) {
      if (await isWhole(folder, files)) return folder
      await install(name, { folder, parent, files })
    }
  } catch (cause) {
    throw EvsysError.is(cause) ? cause : fileError('make', folder, cause)
  }
  throw new EvsysError('FILE_FAILED', `cannot make ${folder}: its files keep changing`, {
    fix: 'look for a program that writes there, or set EVSYS_CACHE to another folder.',
  })
}

// What killed processes left behind. A model is made in seconds: after a day nobody is at work there.
async function sweep(parent: string): Promise<void> {
  for (const entry of await readdir(parent)) {
    const path = join(parent, entry)
    if (!entry.startsWith(unfinishedPrefix) || Date.now() - (await changedMs(path)) < dayMs) continue
    await rm(path, { recursive: true, force: true })
  }
}

async function changedMs(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return Date.now() // finished or swept meanwhile
    throw cause
  }
}

/** Digests of all files of a model, by name. */
async function modelFiles(name: BundledName): Promise<Map<string, string>> {
  const digests = Digests.parse(JSON.parse(await readFile(join(shipped, 'digests.json'), 'utf8')))
  const files = new Map([[weightsFile, digests[name] ?? '']])
  for (const file of describingFiles) files.set(file, sha256(await readFile(join(shipped, folderOf(name), file))))
  return files
}

async function isWhole(folder: string, files: ReadonlyMap<string, string>): Promise<boolean> {
  try {
    for (const [file, digest] of files) if (sha256(await readFile(join(folder, file))) !== digest) return false
    return true
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return false
    throw cause
  }
}

type Place = { folder: string; parent: string; files: ReadonlyMap<string, string> }

async function install(name: BundledName, { folder, parent, files }: Place): Promise<void> {
  const unfinished = await mkdtemp(join(parent, unfinishedPrefix))
  try {
    const weights = bundledWeights(name)
    if (sha256(weights) !== files.get(weightsFile)) {
      throw new EvsysError('INTERNAL', `the weights of ${name} come out differently on this machine`, {
        fix: 'report it, with the version of Node and the processor.',
      })
    }
    await writeSynced(join(unfinished, weightsFile), weights)
    for (const file of describingFiles) {
      await writeSynced(join(unfinished, file), await readFile(join(shipped, folderOf(name), file)))
    }
    await syncFolder(unfinished)
    await replaceFolder(unfinished, folder, files)
    await syncFolder(parent)
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

// A folder that is in the way was made by another process meanwhile, or is damaged: then it is moved aside first.
async function replaceFolder(from: string, to: string, files: ReadonlyMap<string, string>): Promise<void> {
  try {
    await rename(from, to)
  } catch (cause) {
    if (!['ENOTEMPTY', 'EEXIST', 'EPERM', 'ENOTDIR'].includes(systemCode(cause) ?? '')) throw cause
    if (await isWhole(to, files)) return
    await rename(to, join(from, 'damaged')).catch((error) => {
      if (systemCode(error) !== 'ENOENT') throw error // another process moved it first
    })
  }
}

async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  await using file = await open(path, 'wx')
  await file.writeFile(bytes)
  await file.sync()
}
