import type { ResolvedModel } from '../../engine/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { openTokenizer } from '../../models/index.ts'

/** How an engine finds base models. Names were resolved before: it is told the folder of each. */
export function folderModels(folders: Readonly<Record<string, string>>): (name: string) => Promise<ResolvedModel> {
  return async (name) => {
    const folder = Object.hasOwn(folders, name) ? folders[name] : undefined
    if (folder === undefined) throw new EvsysError('MODEL_MISSING', `no base model is called "${name}" here`)
    const tokenizer = await openTokenizer(folder)
    return { folder, decode: (tokens) => tokenizer.decode(Int32Array.from(tokens)) }
  }
}
