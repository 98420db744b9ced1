import type { ChatMessage, OpenRenderer, Rendered, Tokenizer } from '../../contracts/index.ts'
import { defineRenderer, EvsysError } from '../../kernel/index.ts'
import { assistantMessage, messageText } from './message-text.ts'
import { mockVocabSize, specialTokens } from './special-tokens.ts'

/**
 * Conversations for mock models: a role token, the text, an end token. Content is encoded without special tokens, so no message
 * can forge the end of another.
 */
export const plainChat = defineRenderer({
  kind: 'plain_chat',
  summary: 'Role token, text, end token: the chat format of mock models.',
  async open({ tokenizer }) {
    if (tokenizer.vocabSize !== mockVocabSize) {
      throw new EvsysError('PLUGIN_FAILED', 'plain_chat: the model does not have the tokens of a mock model', {
        fix: 'leave out renderer_name to use the model’s own template.',
      })
    }
    return openPlainChat(tokenizer)
  },
})

const { '<|end|>': end } = specialTokens

export function openPlainChat(tokenizer: Tokenizer): OpenRenderer {
  return {
    stop: [end],
    conversation: (messages) => rendered(messages, tokenizer),
    prompt(messages) {
      const { tokens } = rendered(messages, tokenizer)
      return Int32Array.from([...tokens, specialTokens['<|assistant|>']])
    },
    parse(completion) {
      const at = completion.indexOf(end)
      const answer = at === -1 ? completion : completion.subarray(0, at)
      return { message: assistantMessage(tokenizer.decode(answer)), complete: at !== -1 }
    },
  }
}

// The role token is template text, written by whoever asks; content and end are the message, produced by an assistant.
function rendered(messages: readonly ChatMessage[], tokenizer: Tokenizer): Rendered {
  const parts = messages.map((message) => tokenizer.encode(messageText(message)))
  const length = parts.reduce((sum, part) => sum + part.length + 2, 0)
  const tokens = new Int32Array(length)
  const owner = new Int32Array(length).fill(-1)
  const produced = new Uint8Array(length)
  let at = 0
  for (const [index, { role }] of messages.entries()) {
    const content = parts[index] ?? new Int32Array()
    tokens[at] = specialTokens[`<|${role}|>`]
    tokens.set(content, at + 1)
    const next = at + content.length + 2
    tokens[next - 1] = end
    owner.fill(index, at + 1, next)
    if (role === 'assistant') produced.fill(1, at + 1, next)
    at = next
  }
  return { tokens, message: owner, produced }
}
