import type { OpenRenderer, Tokenizer } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { byteTokenizer } from '../mock/byte-tokenizer.ts'
import { openPlainChat } from '../mock/plain-chat.ts'

/** The renderer that is named, or the one that the model brings along. */
export async function openModelRenderer(
  name: string | undefined,
  text: { readonly tokenizer: Tokenizer; readonly chatTemplate?: string },
): Promise<OpenRenderer> {
  if (text.tokenizer === byteTokenizer && (name === undefined || name === 'plain_chat'))
    return openPlainChat(text.tokenizer)
  const { openNamedRenderer } = await import('../../models/index.ts')
  if (name !== undefined) return openNamedRenderer(name, text)
  if (text.chatTemplate !== undefined) return openNamedRenderer('chat_template', text)
  throw new EvsysError('MODEL_INVALID', 'the model has no chat template of its own', {
    fix: 'name a renderer in the params of the client.',
  })
}
