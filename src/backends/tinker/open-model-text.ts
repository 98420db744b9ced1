// Tokens for a model of a service: those of the mock model, or of the files that its name leads to.
import type { Tokenizer } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { byteTokenizer } from '../mock/byte-tokenizer.ts'

/** How a model writes. */
export type ModelText = { tokenizer: Tokenizer; chatTemplate?: string }

export async function openModelText(arch: string | undefined, tokenizerId: string): Promise<ModelText> {
  if (arch === 'bigram') return { tokenizer: byteTokenizer }
  const { openTokenizer, readChatTemplate, resolveModelFolder } = await import('../../models/index.ts')
  const name = repositoryOf(tokenizerId)
  try {
    const { folder } = await resolveModelFolder(name, { files: ['tokenizer.json'] })
    const chatTemplate = await readChatTemplate(folder)
    return { tokenizer: await openTokenizer(folder), ...(chatTemplate === undefined ? {} : { chatTemplate }) }
  } catch (cause) {
    if (!EvsysError.is(cause) || cause.code !== 'MODEL_MISSING') throw cause
    throw new EvsysError('MODEL_MISSING', `the tokenizer of the model is not here: ${cause.message}`, {
      cause,
      fix: `download it once: hf download ${name} --include 'tokenizer*' --include '*.jinja'`,
    })
  }
}

/** Cuts what names carry beyond a repository: `name:revision`, `org/model/variant`. */
function repositoryOf(id: string): string {
  const [name = ''] = id.split(':')
  const parts = name.split('/')
  return parts.length === 3 && parts[0] !== '' && parts[0] !== '.' ? parts.slice(0, 2).join('/') : name
}
