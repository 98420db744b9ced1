// Metrics of classifiers: an answer is a label, and so is what a task expects. Classes are those that are expected, or those of `labels`. An
// answer that is none of them is wrong for the class that was expected and counts for no other; so does an empty one. An answer that
// infrastructure lost is, at worst, such an answer, and at best the right one. Every sample of a task is one answer.
import * as z from 'zod'
import type {
  MetricContext,
  MetricResult,
  MetricTable,
  MetricTask,
  TaskRewards,
  ThinClass,
} from '../../contracts/index.ts'
import { defineMetric, EvsysError } from '../../kernel/index.ts'
import { markedAnswer } from '../verifiers/final-answer.ts'
import { passThreshold } from './reward-metrics.ts'

const params = z.strictObject({
  labels: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('The classes, in the order of tables; absent: those that tasks expect, by name.'),
  field: z
    .string()
    .min(1)
    .optional()
    .describe('Field of the task’s metadata that holds its label, by dotted path; absent: what its verifier expects.'),
  ignore_case: z.boolean().default(false).describe('Upper and lower case count as equal.'),
})
type ClassParams = z.output<typeof params>
type Given = MetricContext<ClassParams>

export const accuracy = defineMetric({
  kind: 'accuracy',
  summary: 'Share of answers whose label is the expected one.',
  params,
  range: [0, 1],
  compute(rewards, context) {
    const answers = labelled(rewards, context)
    if (answers === undefined || answers.length === 0) return undefined
    return answers.filter(({ expected, answered }) => expected === answered).length / answers.length
  },
})

export const macroF1 = defineMetric({
  kind: 'macro_f1',
  summary: 'Mean over classes of their F1: rare classes count as much as frequent ones.',
  params,
  range: [0, 1],
  compute(rewards, context) {
    const classes = countClasses(rewards, context)
    const scored = classes?.flatMap((each) => f1(each) ?? []) ?? []
    return scored.length === 0 ? undefined : scored.reduce((sum, each) => sum + each, 0) / scored.length
  },
})

export const perClass = defineMetric({
  kind: 'per_class',
  summary:
    'Precision, recall and F1 of every class: per_class/f1:LABEL; with a table that holds the number of its tasks too.',
  params,
  range: [0, 1],
  compute(rewards, context): MetricResult | undefined {
    const classes = countClasses(rewards, context)
    if (classes === undefined) return undefined
    const measured = classes.map((each) => ({
      ...each,
      numbers: { precision: ratio(each.right, each.answered), recall: ratio(each.right, each.expected), f1: f1(each) },
    }))
    const table: MetricTable = {
      row_title: 'class',
      rows: classes.map(({ label }) => label),
      columns: ['precision', 'recall', 'f1', 'support'],
      cells: measured.map(({ numbers, tasks }) => [
        numbers.precision ?? null,
        numbers.recall ?? null,
        numbers.f1 ?? null,
        tasks,
      ]),
    }
    const values = measured.flatMap(({ label, numbers }) =>
      Object.entries(numbers).map(([name, value]) => [`${name}:${label}`, value] as const),
    )
    return { values: Object.fromEntries(values), table }
  },
})

/** The columns of what is no class. */
const otherAnswer = '(other answer)'
const emptyAnswer = '(no answer)'

export const confusion = defineMetric({
  kind: 'confusion',
  summary: 'Table of answers: what was expected by what was answered.',
  params,
  range: [0, null],
  compute(rewards, context): MetricResult | undefined {
    const answers = labelled(rewards, context)
    if (answers === undefined) return undefined
    const rows = classLabels(answers, context.params)
    const columns = [...rows, otherAnswer, emptyAnswer]
    const counts = new Map<string, number>()
    for (const { expected, answered } of answers) {
      const column = answered === '' ? emptyAnswer : rows.includes(answered) ? answered : otherAnswer
      const key = JSON.stringify([expected, column])
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    const cells = rows.map((row) => columns.map((column) => counts.get(JSON.stringify([row, column])) ?? 0))
    return { table: { row_title: 'expected', column_title: 'answered', rows, columns, cells } }
  },
})

/** They need a label of every task. */
export const labelMetrics: ReadonlySet<unknown> = new Set([accuracy, macroF1, perClass, confusion])

/** Metrics that are averaged over classes, or of one class each: their classes, with the number of their tasks. */
export function classSizes(
  plugin: unknown,
  given: unknown,
): ((tasks: readonly MetricTask[]) => ThinClass[]) | undefined {
  if (plugin !== macroF1 && plugin !== perClass) return undefined
  const own = params.parse(given)
  return (tasks) => {
    const labels = tasks.map(({ taskId, expected, metadata }) =>
      expectedLabel(taskId, own.field === undefined ? expected : valueAt(metadata, own.field), own),
    )
    const known = own.labels?.map((label) => fold(label, own)) ?? labels
    return [...new Set(known)].map((label) => ({ label, tasks: labels.filter((each) => each === label).length }))
  }
}

interface Labelled {
  readonly task: number
  readonly expected: string
  /** Empty: nothing. */
  readonly answered: string
}

/** Undefined where tasks are not known. */
function labelled(rewards: TaskRewards, { tasks, params }: Given): Labelled[] | undefined {
  const known = new Set((params.labels ?? []).map((label) => fold(label, params)))
  return tasks?.flatMap(({ taskId, expected, metadata, samples }, task) => {
    const label = expectedLabel(taskId, params.field === undefined ? expected : valueAt(metadata, params.field), params)
    if (known.size > 0 && !known.has(label)) {
      throw new EvsysError(
        'DATA_INVALID',
        `task "${taskId}" has the label ${JSON.stringify(label)}, which labels do not list`,
        {
          fix: 'add it to `labels` of the metric, or correct the task.',
        },
      )
    }
    return samples.map(({ output }, sample) => {
      if (output !== undefined) return { task, expected: label, answered: fold(markedAnswer(output) ?? output, params) }
      return { task, expected: label, answered: (rewards[task]?.[sample] ?? 0) >= passThreshold ? label : '' }
    })
  })
}

function expectedLabel(taskId: string, value: unknown, params: ClassParams): string {
  if (typeof value === 'string' && value.trim() !== '') return fold(value, params)
  if (typeof value === 'number' || typeof value === 'boolean') return fold(String(value), params)
  const place = params.field === undefined ? 'its verifier expects none' : `metadata has none at ${params.field}`
  throw new EvsysError('DATA_INVALID', `task "${taskId}" has no label: ${place}`, {
    fix: 'give every task an expected text, number or truth value, or name the field of its metadata: params: { field: label }.',
  })
}

function fold(text: string, { ignore_case }: ClassParams): string {
  return ignore_case ? text.trim().toLowerCase() : text.trim()
}

function valueAt(metadata: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined,
      metadata,
    )
}

function classLabels(answers: readonly Labelled[], params: ClassParams): string[] {
  if (params.labels !== undefined) return [...new Set(params.labels.map((label) => fold(label, params)))]
  return [...new Set(answers.map(({ expected }) => expected))].sort()
}

interface ClassCount {
  readonly label: string
  readonly right: number
  readonly expected: number
  readonly answered: number
  readonly tasks: number
}

function countClasses(rewards: TaskRewards, context: Given): ClassCount[] | undefined {
  const answers = labelled(rewards, context)
  if (answers === undefined) return undefined
  const counts = new Map(
    classLabels(answers, context.params).map((label) => [
      label,
      { label, right: 0, expected: 0, answered: 0, tasks: new Set<number>() },
    ]),
  )
  for (const { task, expected, answered } of answers) {
    const own = counts.get(expected)
    const given = counts.get(answered)
    if (own !== undefined) own.expected++
    own?.tasks.add(task)
    if (given !== undefined) given.answered++
    if (own !== undefined && own === given) own.right++
  }
  return [...counts.values()].map(({ tasks, ...each }) => ({ ...each, tasks: tasks.size }))
}

function ratio(part: number, whole: number): number | undefined {
  return whole === 0 ? undefined : part / whole
}

// 2 TP / (2 TP + FP + FN): also defined where a class is never answered, which is 0, and not where it is neither asked nor answered.
function f1({ right, expected, answered }: ClassCount): number | undefined {
  return ratio(2 * right, expected + answered)
}
