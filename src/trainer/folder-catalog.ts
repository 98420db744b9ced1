// Base models in folders, as the Hugging Face libraries write them.
import { readModelConfig } from '../engine/index.ts'
import { openChatTemplate, openTokenizer, readChatTemplate, resolveModelFolder } from '../models/index.ts'
import type { ModelCatalog, ModelText, ServedModel } from './state/served-model.ts'

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
  if (template === undefined) return { tokenizer }
  return { tokenizer, renderer: await openChatTemplate({ tokenizer, template }) }
}
