// Off-policy distillation: the student learns answers that a teacher gave, as text or with the teacher's distribution in every place; or
// the teacher's distribution over answers that the rows hold.
import * as z from 'zod'
import { type ChatMessagesRow, type StepContext, TeacherSpec } from '../../contracts/index.ts'
import { defineAlgorithm, EvsysError, mapConcurrent } from '../../kernel/index.ts'
import { sharedParams } from '../shared-params.ts'
import { mean } from './mean.ts'
import { rowExample } from './row-example.ts'
import { answersOf, type TaughtAnswer } from './taught-answers.ts'
import { tokenTeacher } from './token-teacher.ts'

const Params = z
  .strictObject({
    ...sharedParams,
    teacher: TeacherSpec.describe('Whom the student learns from.'),
    answers: z
      .enum(['teacher', 'rows'])
      .default('teacher')
      .describe(
        'Whose answers are trained on: those that the teacher gives to the conversations, or those of the rows.',
      ),
    targets: z
      .enum(['text', 'logits'])
      .default('text')
      .describe('`text`: the tokens of the answers; `logits`: the teacher’s likeliest tokens in every place of them.'),
    topk: z
      .union([z.int().min(1).max(10_000), z.literal('full')])
      .default(20)
      .describe('With `logits`: how many of the likeliest tokens, or `full` for the whole vocabulary.'),
    num_samples: z.int().min(1).max(1024).default(1).describe('Answers of the teacher to each conversation.'),
    max_tokens: z
      .int()
      .min(1)
      .default(256)
      .describe('Longest answer of the teacher; one that is cut off is not trained on.'),
    temperature: z.number().min(0).default(0).describe('Of the teacher’s answers; 0 gives the same answer every time.'),
    max_seq_len: z
      .int()
      .min(2)
      .default(2048)
      .describe('Longest conversation, in tokens; what is longer loses its end.'),
    n_concurrent: z.int().min(1).default(8).describe('Questions to the teacher at a time.'),
  })
  .refine(({ answers, targets }) => answers === 'teacher' || targets === 'logits', {
    path: ['targets'],
    error: 'the text of rows needs no teacher: use algorithm.kind sft, or targets: logits',
  })
  .refine(({ num_samples, temperature }) => num_samples === 1 || temperature > 0, {
    path: ['temperature'],
    error: 'at temperature 0 all answers are the same: raise it, or ask for one',
  })
  .refine(({ teacher, targets }) => teacher.client === undefined || targets === 'text', {
    path: ['targets'],
    error: 'a teacher behind a client answers in text and gives no log-probabilities: use targets: text',
  })
export type DistillParams = z.output<typeof Params>
export type DistillContext = StepContext<DistillParams, 'chat_messages'>

const asText = 'name it as teacher.client, such as { kind: local, params: { model: NAME } }, with targets: text.'

/** Trains on what a teacher says. */
export const distill = defineAlgorithm({
  kind: 'distill',
  summary:
    'Off-policy distillation: trains on a teacher’s answers, or on its distribution over the answers of the rows.',
  params: Params,
  rowFormat: 'chat_messages',
  async setup(context) {
    const { rows, params } = context
    if (params.teacher.client === undefined) await tokenTeacher(context, params.teacher, asText)
    if (
      rows.some(({ messages }) =>
        messages.some(({ role }) => role === (params.answers === 'rows' ? 'assistant' : 'user')),
      )
    )
      return
    throw new EvsysError('DATA_INVALID', `distill: none of the ${rows.length} rows has ${wanted(params)}`, {
      fix: 'give the rows messages: a question of the user, and for answers: rows an answer of the assistant.',
    })
  },
  async buildBatch(context) {
    const { batch, params, signal } = context
    const rows = batch(params.batch_size)
    const made = (
      await mapConcurrent(rows, { limit: params.n_concurrent, signal }, (row) => examplesOf(context, row))
    ).flat()
    const examples = made.flatMap(({ example }) => example ?? [])
    const data = examples.map(({ datum }) => datum)
    const supervised = examples.reduce((sum, each) => sum + each.supervised, 0)
    const asked = made.flatMap(({ answer }) => answer ?? [])
    return {
      data,
      loss: { name: 'cross_entropy' },
      metrics: {
        'data/rows': rows.length,
        'data/sequences': data.length,
        'data/dropped_answers': made.length - data.length,
        'data/tokens': data.reduce((sum, { tokens }) => sum + tokens.length, 0),
        'data/supervised_tokens': supervised,
        'distill/teacher_entropy': examples.reduce((sum, { entropy }) => sum + entropy, 0) / Math.max(1, supervised),
        ...(asked.length === 0
          ? {}
          : {
              'teacher/answers:sum': asked.length,
              'teacher/truncated:sum': asked.filter(({ isCut }) => isCut).length,
              'teacher/length_mean': mean(asked.map(({ length }) => length)),
            }),
      },
    }
  },
  stepMetrics({ built, result }) {
    const supervised = built.metrics?.['data/supervised_tokens'] ?? 0
    const loss = result.metrics['loss:sum']
    if (loss === undefined || supervised === 0) return {}
    const nll = loss / supervised
    return { train_mean_nll: nll, 'distill/kl': nll - (built.metrics?.['distill/teacher_entropy'] ?? 0) }
  },
})

function wanted({ answers }: DistillParams): string {
  return answers === 'rows' ? 'an answer to train on' : 'a question to answer'
}

type Made = { answer?: TaughtAnswer; example: Awaited<ReturnType<typeof rowExample>> }

async function examplesOf(context: DistillContext, row: ChatMessagesRow): Promise<Made[]> {
  const { params } = context
  const teacher = params.teacher.client === undefined ? await tokenTeacher(context, params.teacher, asText) : undefined
  if (params.answers === 'rows') return [{ example: await rowExample(context, teacher, row.messages) }]
  const answers = await answersOf(context, teacher, row)
  const made: Made[] = []
  for (const answer of answers) {
    made.push({ answer, example: answer.isCut ? undefined : await answer.example() })
  }
  return made
}
