import type { Tokenizer } from '../../contracts/index.ts'
import { defineRenderer, EvsysError } from '../../kernel/index.ts'
import type { ModelTokenizer } from '../tokenizer/open-tokenizer.ts'
import { openChatTemplate } from './chat-template-renderer.ts'

/** Conversations in the model's own form: the template that its folder holds. */
export const chatTemplate = defineRenderer({
  kind: 'chat_template',
  summary: 'The model’s own chat template.',
  async open({ tokenizer, chatTemplate: template }) {
    if (template === undefined || !isModelTokenizer(tokenizer)) {
      throw new EvsysError('PLUGIN_FAILED', 'chat_template: the model has no chat template of its own', {
        fix: 'name a renderer with renderer_name, or use a model that was trained on conversations.',
      })
    }
    return openChatTemplate({ tokenizer, template })
  },
})

function isModelTokenizer(tokenizer: Tokenizer): tokenizer is ModelTokenizer {
  return 'encodeGuarded' in tokenizer && 'special' in tokenizer
}
