// Answers that another system gave, in a file: an arm without a model, scored by the same scorer on the same tasks.
import { stat } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import * as z from 'zod'
import type { Row } from '../../contracts/index.ts'
import { readCsv, readJsonl } from '../../data/index.ts'
import { defineAgent, EvsysError, fileError } from '../../kernel/index.ts'

const answerFields = ['answer', 'output', 'prediction'] as const

export const predictions = defineAgent({
  kind: 'predictions',
  summary: 'Answers of any other system, from a CSV or JSONL file with a row for each task: no model is asked.',
  params: z.strictObject({
    path: z.string().min(1).describe('The file: .csv with a header, or .jsonl.'),
    task_field: z.string().min(1).default('task_id').describe('Field with the id of the task.'),
    answer_field: z
      .string()
      .min(1)
      .optional()
      .describe('Field with the answer; absent: the first of answer, output and prediction that a row has.'),
  }),
  async run({ params, task, signal }) {
    const answers = await answersIn(params, signal)
    const output = answers.get(task.task_id)
    if (output === undefined) throw new Error(`${params.path} has no answer to the task "${task.task_id}"`)
    return { output }
  },
})

type Params = z.output<typeof predictions.params>

/** By file, its version and the fields that are read. */
const known = new Map<string, Promise<ReadonlyMap<string, string>>>()

async function answersIn(params: Params, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const path = resolve(params.path)
  const { mtimeMs, size } = await stat(path).catch((cause: unknown) => {
    throw fileError('read', path, cause)
  })
  const key = JSON.stringify([path, mtimeMs, size, params.task_field, params.answer_field])
  const reading = known.get(key) ?? readAnswers(path, params, signal)
  known.set(key, reading)
  reading.catch(() => known.delete(key))
  return await reading
}

async function readAnswers(path: string, { task_field, answer_field }: Params, signal: AbortSignal) {
  const answers = new Map<string, string>()
  const rows = extname(path).toLowerCase() === '.csv' ? readCsv(path, { signal }) : readJsonl(path, { signal })
  for await (const { row, line } of rows) {
    const id = textOf(row, task_field)
    const fields = answer_field === undefined ? answerFields : [answer_field]
    const answer = fields.map((field) => textOf(row, field)).find((text) => text !== undefined)
    if (id === undefined || answer === undefined) {
      const message = `${path}:${line}: the row has no ${id === undefined ? task_field : fields.join(', ')}`
      const fix = 'write a field task_id and a field answer, or name them in task_field and answer_field.'
      throw new EvsysError('DATA_INVALID', message, { where: { file: path, line, col: 1 }, fix })
    }
    if (answers.has(id)) {
      const message = `${path}:${line}: the task "${id}" is answered twice`
      throw new EvsysError('DATA_INVALID', message, {
        where: { file: path, line, col: 1 },
        fix: 'keep one answer for each task.',
      })
    }
    answers.set(id, answer)
  }
  return answers
}

function textOf(row: Row, field: string): string | undefined {
  const value = row[field]
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}
