import type { ResolvedModel } from '../../engine/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { openTokenizer } from '../../models/index.ts'

/** How an engine finds base models. Names were resolved before: it is told the folder of each. */
export function folderModels(folders: Readonly<Record<string, string>>): (name: string) => Promise<ResolvedModel> {
  const opened = new Map<string, Promise<ResolvedModel>>()
  const resolve = (name: string): Promise<ResolvedModel> => {
    const folder = Object.hasOwn(folders, name) ? folders[name] : undefined
    if (folder === undefined) throw new EvsysError('MODEL_MISSING', `no base model is called "${name}" here`)
    const opening = opened.get(name) ?? openModel(folder)
    opened.set(name, opening)
    opening.catch(() => opened.delete(name)) // files can be mended
    return opening
  }
  // One model alone will be asked for: it is opened while whoever asks for it starts.
  const [only, ...others] = Object.keys(folders)
  if (only !== undefined && others.length === 0) resolve(only).catch(() => {}) // told to whoever asks
  return async (name) => resolve(name)
}

async function openModel(folder: string): Promise<ResolvedModel> {
  const tokenizer = await openTokenizer(folder)
  return { folder, decode: (tokens) => tokenizer.decode(Int32Array.from(tokens)) }
}
