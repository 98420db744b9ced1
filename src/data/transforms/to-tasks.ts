import * as z from 'zod'
import type { Row } from '../../contracts/index.ts'
import { defineTransform, hashOf } from '../../kernel/index.ts'
import { nonEmpty, someFields } from '../rows/params.ts'
import { isRow, placeOf, requiredField, rowError } from '../rows/raw-row.ts'
import { compileTemplate, TemplateText } from './template.ts'

/** Rows of the shape `harbor_task`. */
export const toHarborTask = defineTransform({
  kind: 'to_harbor_task',
  summary: 'Shapes rows as tasks: an instruction, and a verifier that scores the answer.',
  params: z.strictObject({
    instruction_template: TemplateText.describe('What the model is asked: `Which tool answers: {query}`.'),
    verifier: nonEmpty.describe('Verifier that scores an answer: exact_match, contains, regex_match, a plugin.'),
    expected: TemplateText.describe('Template of what the verifier compares with; one `{field}` alone keeps its type.'),
    verifier_params: z.record(z.string(), z.unknown()).default({}).describe('Params of the verifier.'),
    task_id_template: TemplateText.optional().describe(
      'Id of each task, unique. Absent: made from the task’s content.',
    ),
    metadata_fields: z.array(nonEmpty).default([]).describe('Fields that are kept in `metadata`.'),
  }),
  async *run(rows, { params, signal }) {
    const instruction = compileTemplate(params.instruction_template, 'to_harbor_task: instruction_template')
    const expected = compileTemplate(params.expected, 'to_harbor_task: expected')
    const taskId =
      params.task_id_template === undefined
        ? undefined
        : compileTemplate(params.task_id_template, 'to_harbor_task: task_id_template')
    const verifier = { kind: 'in_process', fn_name: params.verifier }
    const places = new Map<string, string>()
    const repeats = new Map<string, number>()
    for await (const row of rows) {
      signal.throwIfAborted()
      const task = {
        instruction: instruction.text(row),
        verifier: { ...verifier, expected: expected.value(row), params: params.verifier_params },
        metadata: pickFields(row, params.metadata_fields, 'to_harbor_task: metadata_fields'),
      }
      const task_id = taskId === undefined ? contentId(task, repeats) : uniqueId(taskId.text(row), row, places)
      yield { ...row, task_id, ...task }
    }
  },
})

// Content, not position: a task keeps its id, and so its results, when rows around it come and go.
function contentId(task: object, repeats: Map<string, number>): string {
  const id = `task-${hashOf(task).slice(0, 12)}`
  const count = (repeats.get(id) ?? 0) + 1
  repeats.set(id, count)
  return count === 1 ? id : `${id}-${count}`
}

function uniqueId(id: string, row: Row, places: Map<string, string>): string {
  if (id === '')
    throw rowError(row, 'to_harbor_task: task_id_template gives an empty id', 'name a field that is never empty.')
  const first = places.get(id)
  if (first !== undefined) {
    throw rowError(
      row,
      `to_harbor_task: the task id "${id}" was given before, to ${first}`,
      'put fields into task_id_template that distinguish the rows, or leave it out.',
    )
  }
  places.set(id, placeOf(row) ?? 'an earlier row')
  return id
}

/** Rows of the shape `prompt_dataset`. */
export const toPromptExample = defineTransform({
  kind: 'to_prompt_example',
  summary: 'Shapes rows as prompt examples: named inputs and the expected answer.',
  params: z.strictObject({
    inputs: someFields(TemplateText, 'needs at least one input').describe(
      'Name of the input -> template. A template that is one `{field}` alone keeps the value’s type.',
    ),
    expected: TemplateText.describe('Template of the expected answer; one `{field}` alone keeps the value’s type.'),
    metadata_fields: z.array(nonEmpty).default([]).describe('Fields that are kept in `metadata`.'),
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

/** The row's own metadata, if it has any, with the named fields added. `param` names the list in errors. */
function pickFields(row: Row, fields: readonly string[], param: string): Row {
  const metadata: Row = isRow(row.metadata) ? { ...row.metadata } : {}
  for (const field of fields) {
    metadata[field] = requiredField(row, field, `${param} names "${field}", which the row does not have`)
  }
  return metadata
}
