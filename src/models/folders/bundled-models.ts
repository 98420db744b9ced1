// The models that come with evsys, in the package. `models/recipe` trains their weights and writes everything to models/.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { EvsysError, fileError, sha256, systemCode } from '../../kernel/index.ts'

/** Bundled models by name. `nano` is for tests, `tiny` the smallest that learns something useful. */
export const bundledNames = ['evsys/nano', 'evsys/tiny'] as const
export type BundledName = (typeof bundledNames)[number]

/** Whether a model of that name comes with evsys. */
export function isBundled(name: string): name is BundledName {
  return bundledNames.some((each) => each === name)
}

/** The folder of a bundled model in models/. */
export function folderOf(name: BundledName): string {
  return name.slice('evsys/'.length)
}

/** The files of a bundled model. */
export const bundledFileNames = [
  'config.json',
  'generation_config.json',
  'model.safetensors',
  'tokenizer.json',
  'tokenizer_config.json',
] as const

// The folder of a bundled model in the package. Its files are compared with the digests that were written beside them when the
// model was made: an installation that was cut short or changed is an error here, not a strange result later.
const shipped = fileURLToPath(new URL('../../../models', import.meta.url))
const Digests = z.record(z.string(), z.record(z.string(), z.string().length(64)))

// A model is read whole once in a process: the files do not change below a running program.
const checked = new Map<string, Promise<string>>()

/** The folder of a bundled model, its files whole. `models` is where the models are, by default those of the package. */
export function ensureBundledModel(name: BundledName, models: string = shipped): Promise<string> {
  const folder = join(models, folderOf(name))
  const known = checked.get(folder)
  if (known !== undefined) return known
  const found = check(name, models, folder)
  checked.set(folder, found)
  found.catch(() => checked.delete(folder)) // what was mended is read again
  return found
}

async function check(name: BundledName, models: string, folder: string): Promise<string> {
  const digests = Digests.parse(JSON.parse((await bytesOf(join(models, 'digests.json'))).toString()))[name] ?? {}
  for (const file of bundledFileNames) {
    const path = join(folder, file)
    if (sha256(await bytesOf(path)) !== digests[file]) throw damaged(`${path} is not the file that came with evsys`)
  }
  return folder
}

async function bytesOf(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') throw damaged(`${path} is missing`)
    throw fileError('read', path, cause)
  }
}

function damaged(what: string): EvsysError {
  return new EvsysError('MODEL_INVALID', what, { fix: 'install evsys again: `npm install evsys`.' })
}
