import * as z from 'zod'
import type { ChatMessage } from '../../contracts/index.ts'
import { defineTransform } from '../../kernel/index.ts'
import { compileTemplate, TemplateText } from '../template.ts'

/** A conversation from the fields of a row. */
export const jsonlToChat = defineTransform({
  kind: 'jsonl_to_chat',
  summary: 'Adds `messages`: a conversation made from the fields of the row by templates.',
  params: z.strictObject({
    system_prompt: z.string().min(1).optional().describe('Text of a system message, taken as it is. Absent: none.'),
    user_template: TemplateText.describe('Text of the user message: `Query: {query}`; `{{` and `}}` are braces.'),
    assistant_template: TemplateText.optional().describe(
      'Text of the assistant message. Absent: the row ends with the user.',
    ),
  }),
  async *run(rows, { params, signal }) {
    const user = compileTemplate(params.user_template, 'jsonl_to_chat: user_template')
    const assistant =
      params.assistant_template === undefined
        ? undefined
        : compileTemplate(params.assistant_template, 'jsonl_to_chat: assistant_template')
    for await (const row of rows) {
      signal.throwIfAborted()
      const messages: ChatMessage[] = []
      if (params.system_prompt !== undefined) messages.push({ role: 'system', content: params.system_prompt })
      messages.push({ role: 'user', content: user.text(row) })
      if (assistant !== undefined) messages.push({ role: 'assistant', content: assistant.text(row) })
      yield { ...row, messages }
    }
  },
})
