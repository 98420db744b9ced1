import type { ResolvedModel } from '../../engine/index.ts'
import { EvsysError } from '../../kernel/index.ts'

type Decode = Awaited<ReturnType<NonNullable<ResolvedModel['openDecode']>>>

/** How an engine finds base models. Names were resolved before: it is told the folder of each. */
export function folderModels(folders: Readonly<Record<string, string>>): (name: string) => Promise<ResolvedModel> {
  const decodes = new Map<string, Promise<Decode>>()
  return async (name) => {
    const folder = Object.hasOwn(folders, name) ? folders[name] : undefined
    if (folder === undefined) throw new EvsysError('MODEL_MISSING', `no base model is called "${name}" here`)
    return {
      folder,
      openDecode() {
        const opening = decodes.get(folder) ?? openDecode(folder)
        decodes.set(folder, opening)
        opening.catch(() => decodes.delete(folder)) // files can be mended
        return opening
      },
    }
  }
}

async function openDecode(folder: string): Promise<Decode> {
  const { openTokenizer } = await import('../../models/index.ts') // most requests stop at tokens
  const tokenizer = await openTokenizer(folder)
  return (tokens) => tokenizer.decode(Int32Array.from(tokens))
}
