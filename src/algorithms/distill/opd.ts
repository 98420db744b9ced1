// On-policy distillation: the student attempts tasks, and a teacher says of every token that the student drew how likely it would have
// been. Tasks are those of `rl`: any agent, several turns, and a reward that is recorded alone. The student is thereby corrected in the
// places where it ends up itself, not in those where its teacher would.
import * as z from 'zod'
import { type Batch, type Datum, type StepContext, TeacherSpec, type Turn } from '../../contracts/index.ts'
import { defineAlgorithm, EvsysError, mapConcurrent, withoutUndefined } from '../../kernel/index.ts'
import { rolloutParams, taughtGuardParams } from '../params/guard-params.ts'
import { count, noRecipe, positive, share, sharedParams, topTokens } from '../params/shared-params.ts'
import { policyDatum } from '../sequences/datums.ts'
import { mergeTurns, type TrainingSequence } from '../sequences/merge-turns.ts'
import { drawAnswers, mean, sumOf, tokenLogprobs, tokensIn, drawnTokens as tokensOf } from '../sequences/rollouts.ts'
import { reverseKlLoss, softSequence } from './soft-targets.ts'
import { shownSequence, type Taught, taughtPlaces, taughtTokens } from './taught-sequence.ts'
import { type TokenTeacher, tokenTeacher } from './token-teacher.ts'

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
    topk: topTokens
      .optional()
      .describe(
        'Likeliest tokens of the teacher that are compared in every place, or `full` for the whole vocabulary; absent: the drawn token alone.',
      ),
    coef: positive.default(1).describe('Factor of the divergence.'),
    discount: share
      .default(0)
      .describe('How much a token answers for those after it; 0: for itself alone. For `reverse` without topk.'),
    baseline: z
      .enum(['mean', 'none'])
      .default('mean')
      .describe('What a drawn token is compared with: the mean over the step, which lowers the noise, or nothing.'),
    num_samples: count
      .max(1024)
      .default(4)
      .describe('Attempts at each task.')
      .meta({ search: { values: [2, 4, 8], area: 'sampling' } }),
    max_tokens: count.default(256).describe('Longest answer of one turn.'),
    temperature: positive
      .default(1)
      .describe('Of the student’s answers.')
      .meta({ search: { from: 0.6, to: 1.2, area: 'sampling' } }),
    max_context_length: z
      .int()
      .min(2)
      .default(2048)
      .describe(
        'Longest text that the teacher is shown; what is longer loses its end. At most the context of the model.',
      ),
    ...rolloutParams,
    n_concurrent: count.default(8).describe('Attempts that are made at a time.').meta(noRecipe),
  })
  .refine(({ divergence, topk }) => divergence === 'reverse' || topk !== undefined, {
    path: ['topk'],
    error: 'forward KL needs the teacher’s distribution: set topk, such as 20',
  })
  .refine(({ discount, topk }) => discount === 0 || topk === undefined, {
    path: ['discount'],
    error: 'a discount is for the drawn tokens: leave it out where topk is set',
  })
type OpdParams = z.output<typeof Params>
type OpdContext = StepContext<OpdParams, 'harbor_task'>

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
    const answers = (await drawAnswers(context, context.batch(context.params.batch_size), 'opd')).flat()
    const whole = answers.filter(({ error }) => error === undefined)
    const drawn = whole.map(tokensOf)
    const sequences = whole.flatMap(({ turns }) => {
      const merged = mergeTurns(turns, { extendsHistory: context.renderer.extendsHistory })
      return merged.sequences.map((sequence) => ({ sequence, turns }))
    })
    const rewards = whole.flatMap(({ reward }) => reward ?? [])
    const built = await opdBatch(context, teacher, sequences)
    return {
      ...built,
      metrics: withoutUndefined({
        ...built.metrics,
        'rollout/answers:sum': answers.length,
        'rollout/failed:sum': answers.length - whole.length,
        'rollout/truncated_share': mean(whole.map(({ truncated }) => (truncated === undefined ? 0 : 1))),
        'rollout/length_mean': mean(drawn),
        'rollout/length_max': Math.max(0, ...drawn),
        'reward/mean': rewards.length === 0 ? undefined : mean(rewards),
      }),
    }
  },
  stepMetrics({ built, result, params }) {
    const places = built.metrics?.['data/supervised_tokens'] ?? 0
    const loss = result.metrics['loss:sum']
    if (params.divergence === 'reverse' || loss === undefined || places === 0) return {}
    return { 'opd/kl': loss / params.coef / places - (built.metrics?.['opd/teacher_entropy'] ?? 0) }
  },
})

/** What the student drew, with the turns of its trajectory. */
type DrawnSequence = { readonly sequence: TrainingSequence; readonly turns: readonly Turn[] }

/** The batch of a step, with a loss that follows from the params. */
async function opdBatch(context: OpdContext, teacher: TokenTeacher, drawn: readonly DrawnSequence[]): Promise<Batch> {
  const { params } = context
  const shown = drawn.map((each) => ({ ...each, ...shownSequence(each.sequence, params.max_context_length) }))
  const built =
    params.topk === undefined ? await drawnTokens(context, teacher, shown) : await places(context, teacher, shown)
  const drawnLogprobs = shown.flatMap(({ sequence: { mask, logprobs } }) => [
    ...logprobs.filter((_, t) => mask[t] === 1),
  ])
  return {
    ...built,
    metrics: {
      ...built.metrics,
      'optim/entropy': -mean(drawnLogprobs),
      'opd/truncated:sum': shown.filter(({ truncated }) => truncated).length,
      'data/tokens': tokensIn(built.data),
      'data/sequences': built.data.length,
    },
  }
}

// Reverse KL by the drawn tokens: its gradient is that of a policy whose reward is how much likelier the teacher finds a token.
async function drawnTokens(
  context: OpdContext,
  teacher: TokenTeacher,
  drawn: readonly DrawnSequence[],
): Promise<Batch> {
  const { params, signal } = context
  const scored = await mapConcurrent(drawn, { limit: params.n_concurrent, signal }, async ({ sequence, turns }) => {
    const [taught, own] = await Promise.all([
      taughtTokens(context, teacher, sequence, turns),
      ownLogprobs(context, sequence),
    ])
    // What did not fit into the teacher's context is not trained on.
    const mask = sequence.mask.map((trained, t) => (Number.isNaN(taught[t] ?? Number.NaN) ? 0 : trained))
    return { sequence: { ...sequence, mask }, gaps: gapsOf(mask, own, taught) }
  })
  const all = scored.flatMap(({ sequence, gaps }) => [...gaps.filter((_, t) => sequence.mask[t] === 1)])
  const usual = params.baseline === 'mean' ? mean(all) : 0
  const data = scored.flatMap(({ sequence, gaps }): Datum[] => {
    const rewards = gaps.map((gap) => params.coef * (usual - gap))
    return [policyDatum(sequence, discounted(rewards, sequence.mask, params.discount)) ?? []].flat()
  })
  return {
    data,
    loss: { name: 'importance_sampling' },
    metrics: { 'opd/kl': mean(all), 'data/supervised_tokens': all.length },
  }
}

// At another temperature than 1 tokens were drawn from another distribution than the one that is trained.
async function ownLogprobs(context: OpdContext, { tokens, logprobs }: TrainingSequence): Promise<Float64Array> {
  if (context.params.temperature === 1) return logprobs
  return await tokenLogprobs(context, await context.policy(), tokens)
}

function gapsOf(mask: Uint8Array, own: Float64Array, taught: Float64Array): Float64Array {
  return Float64Array.from(mask, (trained, t) => {
    if (trained === 0) return 0
    const gap = (own[t] ?? Number.NaN) - (taught[t] ?? Number.NaN)
    if (Number.isFinite(gap)) return gap
    throw new EvsysError('BACKEND_FAILED', `opd: the log-probabilities of token ${t} are not finite`, {
      fix: 'lower the learning rate, and check the weights of the teacher.',
    })
  })
}

// The teacher's distribution in every place.
async function places(context: OpdContext, teacher: TokenTeacher, drawn: readonly DrawnSequence[]): Promise<Batch> {
  const { params, signal } = context
  const k = params.topk === 'full' ? context.tokenizer.vocabSize : (params.topk ?? 1)
  const scored = await mapConcurrent(drawn, { limit: params.n_concurrent, signal }, async ({ sequence, turns }) => ({
    sequence,
    taught: await taughtPlaces(context, teacher, sequence, turns, k),
  }))
  const made = scored.flatMap(({ sequence, taught }) => {
    const soft = softSequence(
      sequence.tokens,
      k,
      (at) => (sequence.mask[at] === 1 ? taught(at)?.target : undefined),
      params.coef,
    )
    return soft === undefined ? [] : [{ ...soft, teacher: teacherRows(sequence, taught, k) }]
  })
  const data = made.map(({ datum }) => datum)
  const supervised = sumOf(made.map((each) => each.supervised))
  const entropy = sumOf(made.map((each) => each.entropy)) / Math.max(1, supervised)
  const metrics = { 'opd/teacher_entropy': entropy, 'data/supervised_tokens': supervised }
  if (params.divergence === 'forward') return { data, loss: { name: 'cross_entropy' }, metrics }
  const teachers = made.map((each) => each.teacher)
  return {
    data,
    loss: { custom: (passed, logprobs) => reverseKlLoss(passed, logprobs, teachers, params.coef) },
    metrics,
  }
}

function teacherRows(
  { tokens, mask }: TrainingSequence,
  taught: (at: number) => Taught | undefined,
  k: number,
): Float64Array {
  const rows = new Float64Array((tokens.length - 1) * k).fill(Number.NaN)
  for (let t = 1; t < tokens.length; t++) {
    if (mask[t] === 1) rows.set(taught(t)?.logprobs ?? [], (t - 1) * k)
  }
  return rows
}

/**
 * Adds to the value of every trained token those that come after it, each step further away counting `discount` times as much. Tokens
 * that are not trained on are passed over.
 */
export function discounted(values: Float64Array, mask: Uint8Array, discount: number): Float64Array {
  if (discount === 0) return values
  const sums = values.slice()
  let later = 0
  for (let t = values.length - 1; t >= 0; t--) {
    if (mask[t] !== 1) continue
    later = (values[t] ?? 0) + discount * later
    sums[t] = later
  }
  return sums
}
