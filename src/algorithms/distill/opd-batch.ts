// What the student drew, with what its teacher thinks of it, as a batch.
import type { Batch, Datum, Turn } from '../../contracts/index.ts'
import { EvsysError, mapConcurrent } from '../../kernel/index.ts'
import { policyDatum, type TrainingSequence } from '../sequences/index.ts'
import { discounted } from './discounted.ts'
import { mean } from './mean.ts'
import type { OpdContext } from './opd.ts'
import { reverseKlLoss } from './reverse-kl-loss.ts'
import { tokenLogprobs } from './score-tokens.ts'
import { softSequence } from './soft-targets.ts'
import { shownSequence, type Taught, taughtPlaces, taughtTokens } from './taught-sequence.ts'
import type { TokenTeacher } from './token-teacher.ts'

export interface DrawnSequence {
  readonly sequence: TrainingSequence
  /** Of the trajectory that it belongs to. */
  readonly turns: readonly Turn[]
}

/** The batch of a step, with a loss that follows from the params. */
export async function opdBatch(
  context: OpdContext,
  teacher: TokenTeacher,
  drawn: readonly DrawnSequence[],
): Promise<Batch> {
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
      'data/tokens': built.data.reduce((sum, { tokens }) => sum + tokens.length, 0),
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
  const supervised = made.reduce((sum, each) => sum + each.supervised, 0)
  const entropy = made.reduce((sum, each) => sum + each.entropy, 0) / Math.max(1, supervised)
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
