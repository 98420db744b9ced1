import * as z from 'zod'
import { defineTransform } from '../../kernel/index.ts'
import { compileTemplate, TemplateText } from '../template.ts'

/** New fields from old ones. */
export const mapTemplate = defineTransform({
  kind: 'map_template',
  summary: 'Adds or replaces fields by templates over the row’s other fields.',
  params: z.strictObject({
    fields: z
      .record(z.string().min(1), TemplateText)
      .refine((fields) => Object.keys(fields).length > 0, { error: 'needs at least one field' })
      .describe('Name of the new field -> template. A template that is one `{field}` alone keeps the value’s type.'),
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
