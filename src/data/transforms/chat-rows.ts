import * as z from 'zod'
import type { ChatMessage, Random } from '../../contracts/index.ts'
import { defineTransform } from '../../kernel/index.ts'
import { count, nonEmpty, someFields } from '../rows/params.ts'
import { isRow, messagesOf } from '../rows/raw-row.ts'
import { compileTemplate, TemplateText } from './template.ts'

/** A conversation from the fields of a row. */
export const jsonlToChat = defineTransform({
  kind: 'jsonl_to_chat',
  summary: 'Adds `messages`: a conversation made from the fields of the row by templates.',
  params: z.strictObject({
    system_prompt: nonEmpty.optional().describe('Text of a system message, taken as it is. Absent: none.'),
    user_template: TemplateText.describe('Text of the user message: `Query: {query}`; `{{` and `}}` are braces.').meta({
      search: { template: true, area: 'prompt' },
    }),
    assistant_template: TemplateText.optional()
      .describe('Text of the assistant message. Absent: the row ends with the user.')
      .meta({ search: { template: true, area: 'template' } }),
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

/** One system message for every conversation. */
export const systemPrompt = defineTransform({
  kind: 'system_prompt',
  summary: 'Gives every chat row the same system message.',
  params: z.strictObject({
    text: nonEmpty.describe('The system message, taken as it is.'),
    existing: z
      .enum(['replace', 'keep'])
      .default('replace')
      .describe('What happens where a row has a system message already.'),
  }),
  async *run(rows, { params, signal }) {
    for await (const row of rows) {
      signal.throwIfAborted()
      const messages = messagesOf(row, 'system_prompt')
      const others = messages.filter((message) => !isSystem(message))
      if (others.length < messages.length && params.existing === 'keep') yield row
      else yield { ...row, messages: [{ role: 'system', content: params.text }, ...others] }
    }
  },
})

/** Solved examples before every conversation. */
export const fewShot = defineTransform({
  kind: 'few_shot',
  summary: 'Puts solved examples before every conversation, as turns of user and assistant.',
  params: z.strictObject({
    examples: z
      .array(z.strictObject({ user: nonEmpty.describe('A question.'), assistant: nonEmpty.describe('Its answer.') }))
      .min(1)
      .describe('The examples, in their order.'),
    n: count
      .optional()
      .describe('How many each conversation gets, drawn by the run’s seed; absent: all. More than there are: all.'),
  }),
  async *run(rows, { params, signal, random }) {
    const { examples, n = examples.length } = params
    let index = 0
    for await (const row of rows) {
      signal.throwIfAborted()
      const messages = messagesOf(row, 'few_shot')
      const opening = messages.findIndex((message) => !isSystem(message))
      const start = opening < 0 ? messages.length : opening
      const turns = chosen(examples, n, () => random('few_shot', index)).flatMap(({ user, assistant }) => [
        { role: 'user', content: user },
        { role: 'assistant', content: assistant },
      ])
      index++
      yield { ...row, messages: [...messages.slice(0, start), ...turns, ...messages.slice(start)] }
    }
  },
})

// In their order, whichever they are.
function chosen<T>(items: readonly T[], n: number, random: () => Random): readonly T[] {
  if (n >= items.length) return items
  const places = new Set(
    random()
      .shuffle([...items.keys()])
      .slice(0, n),
  )
  return items.filter((_, i) => places.has(i))
}

function isSystem(message: unknown): boolean {
  return isRow(message) && message.role === 'system'
}

/** New fields from old ones. */
export const mapTemplate = defineTransform({
  kind: 'map_template',
  summary: 'Adds or replaces fields by templates over the row’s other fields.',
  params: z.strictObject({
    fields: someFields(TemplateText, 'needs at least one field').describe(
      'Name of the new field -> template. A template that is one `{field}` alone keeps the value’s type.',
    ),
  }),
  async *run(rows, { params, signal }) {
    const templates = Object.entries(params.fields).map(
      ([name, text]) => [name, compileTemplate(text, `map_template: ${name}`)] as const,
    )
    for await (const row of rows) {
      signal.throwIfAborted()
      // Every template sees the row as it came, so the order of the fields does not matter.
      yield { ...row, ...Object.fromEntries(templates.map(([name, template]) => [name, template.value(row)])) }
    }
  },
})
