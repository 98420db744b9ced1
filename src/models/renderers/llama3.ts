// Llama 3: a header for each role. Without the date that Meta's own template puts into the system message, and without tools,
// whose calls cannot be told from other JSON.
import type { ChatFormat } from './chat-format.ts'
import { refused } from './format-messages.ts'
import { answerMessage } from './read-answer.ts'

export const llama3: ChatFormat = {
  tokens: ['<|begin_of_text|>', '<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>'],
  ends: ['<|eot_id|>'],
  extendsHistory: true,
  begin: () => '<|begin_of_text|>',
  turn({ role, text, reasoning, calls }) {
    if (role === 'tool' || calls.length > 0)
      throw refused('llama3', 'it has no form for tools', 'choose another renderer.')
    if (reasoning !== undefined)
      throw refused('llama3', 'it has no form for reasoning', 'drop it with the transform drop_reasoning.')
    return { header: [headerOf(role)], body: [{ content: text }, '<|eot_id|>'] }
  },
  prompt: () => headerOf('assistant'),
  parse: ({ text }, ended) => ({ message: answerMessage(text, '', []), complete: ended }),
}

function headerOf(role: string): string {
  return `<|start_header_id|>${role}<|end_header_id|>\n\n`
}
