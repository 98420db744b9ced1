// On-policy distillation: the student attempts tasks, and a teacher says of every token that the student drew how likely it would have
// been. Tasks are those of `rl`: any agent, several turns, and a reward that is only looked at. The student is thereby corrected in the
// places where it ends up itself, not in those where its teacher would.
import * as z from 'zod'
import { type PluginSpec, type StepContext, TeacherSpec, type Trajectory } from '../../contracts/index.ts'
import { defineAlgorithm, mapConcurrent } from '../../kernel/index.ts'
import { taughtGuardParams } from '../guard-params.ts'
import { rolloutParams } from '../rollout-params.ts'
import { mergeTurns } from '../sequences/index.ts'
import { sharedParams } from '../shared-params.ts'
import { mean } from './mean.ts'
import { opdBatch } from './opd-batch.ts'
import { tokenTeacher } from './token-teacher.ts'

const Params = z
  .strictObject({
    ...sharedParams,
    ...taughtGuardParams,
    teacher: TeacherSpec.describe('Whom the student learns from. It has to write with the student’s tokens.'),
    divergence: z
      .enum(['reverse', 'forward'])
      .default('reverse')
      .describe(
        '`reverse` makes the student seek what the teacher finds likely; `forward` makes it cover all of that.',
      ),
    topk: z
      .union([z.int().min(1).max(10_000), z.literal('full')])
      .optional()
      .describe(
        'Likeliest tokens of the teacher that are compared in every place, or `full` for the whole vocabulary; absent: the drawn token alone.',
      ),
    coef: z.number().gt(0).default(1).describe('Factor of the divergence.'),
    discount: z
      .number()
      .min(0)
      .max(1)
      .default(0)
      .describe('How much a token answers for those after it; 0: for itself alone. For `reverse` without topk.'),
    baseline: z
      .enum(['mean', 'none'])
      .default('mean')
      .describe('What a drawn token is compared with: the mean over the step, which lowers the noise, or nothing.'),
    num_samples: z.int().min(1).max(1024).default(4).describe('Attempts at each task.'),
    max_tokens: z.int().min(1).default(256).describe('Longest answer of one turn.'),
    temperature: z.number().gt(0).default(1).describe('Of the student’s answers.'),
    max_context_length: z
      .int()
      .min(2)
      .default(2048)
      .describe(
        'Longest text that the teacher is shown; what is longer loses its end. At most the context of the model.',
      ),
    ...rolloutParams,
    n_concurrent: z.int().min(1).default(8).describe('Attempts that are made at a time.'),
  })
  .refine(({ divergence, topk }) => divergence === 'reverse' || topk !== undefined, {
    path: ['topk'],
    error: 'forward KL needs the teacher’s distribution: set topk, such as 20',
  })
  .refine(({ discount, topk }) => discount === 0 || topk === undefined, {
    path: ['discount'],
    error: 'a discount is for the drawn tokens: leave it out where topk is set',
  })
export type OpdParams = z.output<typeof Params>
export type OpdContext = StepContext<OpdParams, 'harbor_task'>

const asText = 'train on its text: algorithm.kind distill with targets: text and teacher.client.'

/** Trains the student on its own attempts, towards a teacher. */
export const opd = defineAlgorithm({
  kind: 'opd',
  summary: 'On-policy distillation: the student attempts tasks, and a teacher weighs every token that it drew.',
  params: Params,
  rowFormat: 'harbor_task',
  async setup(context) {
    await tokenTeacher(context, context.params.teacher, asText)
  },
  async buildBatch(context) {
    const teacher = await tokenTeacher(context, context.params.teacher, asText)
    const attempts = await attemptsOf(context)
    const judged = attempts.filter(({ error }) => error === undefined)
    const drawn = judged.map(({ turns }) =>
      turns.reduce((sum, { tokens }) => sum + (tokens?.completion.length ?? 0), 0),
    )
    const sequences = judged.flatMap(({ turns }, attempt) => {
      const { extendsHistory } = context.renderer
      const merged = mergeTurns(turns, extendsHistory === undefined ? {} : { extendsHistory })
      return merged.sequences.map((sequence) => ({ sequence, turns, attempt }))
    })
    const rewards = judged.flatMap(({ reward }) => reward ?? [])
    const built = await opdBatch(context, teacher, sequences)
    return {
      ...built,
      metrics: {
        ...built.metrics,
        'rollout/answers:sum': attempts.length,
        'rollout/failed:sum': attempts.length - judged.length,
        'rollout/truncated_share': mean(judged.map(({ truncated }) => (truncated === undefined ? 0 : 1))),
        'rollout/length_mean': mean(drawn),
        'rollout/length_max': Math.max(0, ...drawn),
        ...(rewards.length === 0 ? {} : { 'reward/mean': mean(rewards) }),
      },
    }
  },
  stepMetrics({ built, result, params }) {
    const places = built.metrics?.['data/supervised_tokens'] ?? 0
    const loss = result.metrics['loss:sum']
    if (params.divergence === 'reverse' || loss === undefined || places === 0) return {}
    return { 'opd/kl': loss / params.coef / places - (built.metrics?.['opd/teacher_entropy'] ?? 0) }
  },
})

async function attemptsOf(context: OpdContext): Promise<Trajectory[]> {
  const { params, policy, rollout, signal, batch, batchIndex } = context
  const { num_samples, max_tokens: maxTokens, temperature, system_prompt, user_template } = params
  const weights = await policy()
  const chat = { user_template, ...(system_prompt === undefined ? {} : { system_prompt }) }
  const agent: PluginSpec = context.agent ?? { kind: 'chat', params: chat }
  const asked = batch(params.batch_size).flatMap((task, at) =>
    Array.from({ length: num_samples }, (_, sample) => ({ task, at, sample })),
  )
  return mapConcurrent(asked, { limit: params.n_concurrent, signal }, ({ task, at, sample }) =>
    rollout(
      {
        ...{ task, agent, policy: { weights }, sample },
        seedPath: ['opd', batchIndex, at, task.task_id],
        sampling: { maxTokens, temperature },
      },
      signal,
    ),
  )
}
