import * as z from 'zod'
import { defineTransform } from '../../kernel/index.ts'
import { pickFields } from '../pick-fields.ts'
import { compileTemplate, TemplateText } from '../template.ts'

/** Rows of the shape `prompt_dataset`. */
export const toPromptExample = defineTransform({
  kind: 'to_prompt_example',
  summary: 'Shapes rows as prompt examples: named inputs and the expected answer.',
  params: z.strictObject({
    inputs: z
      .record(z.string().min(1), TemplateText)
      .refine((inputs) => Object.keys(inputs).length > 0, { error: 'needs at least one input' })
      .describe('Name of the input -> template. A template that is one `{field}` alone keeps the value’s type.'),
    expected: TemplateText.describe('Template of the expected answer; one `{field}` alone keeps the value’s type.'),
    metadata_fields: z.array(z.string().min(1)).default([]).describe('Fields that are kept in `metadata`.'),
  }),
  async *run(rows, { params, signal }) {
    const inputs = Object.entries(params.inputs).map(
      ([name, text]) => [name, compileTemplate(text, `to_prompt_example: inputs.${name}`)] as const,
    )
    const expected = compileTemplate(params.expected, 'to_prompt_example: expected')
    for await (const row of rows) {
      signal.throwIfAborted()
      yield {
        ...row,
        inputs: Object.fromEntries(inputs.map(([name, template]) => [name, template.value(row)])),
        expected: expected.value(row),
        metadata: pickFields(row, params.metadata_fields, 'to_prompt_example: metadata_fields'),
      }
    }
  },
})
