// `User: ...`, `Assistant: ...`: the form of base models, without special tokens. What ends an answer is text, so content can
// spell it; the other formats have special tokens for that.
import type { ChatFormat } from './chat-format.ts'
import { refused } from './format-messages.ts'
import { answerMessage } from './read-answer.ts'

const delimiter = '\n\nUser:'

export const roleColon: ChatFormat = {
  tokens: [],
  ends: [],
  stopTexts: [delimiter],
  extendsHistory: true,
  begin: (bos) => bos ?? '',
  turn({ role, text, reasoning, calls }, { isLast }) {
    if (role === 'tool' || calls.length > 0)
      throw refused('role_colon', 'it has no form for tools', 'choose another renderer.')
    if (reasoning !== undefined)
      throw refused('role_colon', 'it has no form for reasoning', 'drop it with the transform drop_reasoning.')
    const header = `${role.charAt(0).toUpperCase()}${role.slice(1)}:`
    // The last answer also learns how it ends: with the beginning of the next question.
    const end = role === 'assistant' && isLast ? ['User:'] : []
    return { header: [header], body: [' ', { content: text }, '\n\n', ...end] }
  },
  prompt: () => 'Assistant:',
  parse({ text }, ended) {
    const at = text.indexOf(delimiter)
    const answer = at === -1 ? text : text.slice(0, at)
    const content = answer.replace(/^ /, '').replace(/\n\n$/, '')
    // Either the delimiter ended it, or the end of all text did.
    const isOnlyOne = text.indexOf(delimiter, at + 1) === -1
    return { message: answerMessage(content, '', []), complete: at === -1 ? ended : isOnlyOne && !ended }
  },
}
