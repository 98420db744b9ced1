// Self-distillation: the model that the run starts from is its own teacher, and sees the wanted answer in its prompt. The student answers
// without it; in every place of its answer it learns what the teacher would have said there. What it could do before is kept better
// than by training on the wanted answers themselves, since the tokens are its own.
import * as z from 'zod'
import type {
  ChatMessage,
  Datum,
  FwdBwd,
  KeptPolicy,
  PromptExample,
  StepContext,
  TopKLogprobs,
  Weights,
} from '../../contracts/index.ts'
import { defineAlgorithm, EvsysError, mapConcurrent } from '../../kernel/index.ts'
import { taughtGuardParams } from '../params/guard-params.ts'
import { count, nonEmpty, nonNegative, noRecipe, sharedParams, wholeNumber } from '../params/shared-params.ts'
import { supervisedDatum } from '../sequences/datums.ts'
import { likeliestInPlace, mean, sumOf, tokensIn } from '../sequences/rollouts.ts'
import { type SoftSequence, softSequence, softTarget } from './soft-targets.ts'

const demo = `{question}

This is an example for a response to the question:
{answer}

Now answer with a response of your own, including the thinking process:`

const Params = z.strictObject({
  ...sharedParams,
  ...taughtGuardParams,
  topk: count.max(10_000).default(20).describe('Likeliest tokens of the teacher that are targets in a place.'),
  teacher_sync_every: count
    .optional()
    .describe('The teacher takes the weights of the student every N steps; absent: it stays as the run started.'),
  max_context_length: z
    .int()
    .min(2)
    .default(2048)
    .describe(
      'Longest text of the teacher, prompt and answer; what is longer loses its end. At most the context of the model.',
    ),
  demo_template: nonEmpty
    .default(demo)
    .describe('What the teacher is asked: fields of the row’s inputs in braces, and `{answer}`, the wanted answer.'),
  user_template: nonEmpty.default('{question}').describe('What the student is asked: fields of inputs in braces.'),
  system_prompt: nonEmpty.optional().describe('System message of both.'),
  skip_first_n_tokens: wholeNumber
    .default(3)
    .describe('Tokens at the start of an answer that are not trained on: there the teacher speaks of its example.')
    .meta({ search: { values: [0, 3, 5], area: 'algorithm' } }),
  max_tokens: count.default(256).describe('Longest answer.'),
  temperature: nonNegative
    .default(1)
    .describe('Of the student’s answers; 0 gives the same answer every time.')
    .meta({ search: { from: 0.6, to: 1.2, area: 'sampling' } }),
  sft_anchor_alpha: nonNegative
    .default(0)
    .describe('Weight of the likelihood of the wanted answer, added as in sft; 0: none.')
    .meta({ search: { values: [0, 0.1, 0.3, 1], area: 'algorithm' } }),
  n_concurrent: count.default(8).describe('Answers that are drawn at a time.').meta(noRecipe),
})
type Params = z.output<typeof Params>
type Context = StepContext<Params, 'prompt_dataset'>

/** Trains on the model’s own answers, corrected by itself with the wanted answer in sight. */
export const sdft = defineAlgorithm({
  kind: 'sdft',
  summary: 'Self-distillation: the student answers, and its own start, shown the wanted answer, is its teacher.',
  params: Params,
  rowFormat: 'prompt_dataset',
  async setup({ rows, params }) {
    for (const row of rows.slice(0, 1)) questionOf(row, params) // a template that fits no row is reported before anything is drawn
  },
  async buildBatch(context) {
    const { batch, params, signal } = context
    const rows = batch(params.batch_size)
    const weights = await context.policy()
    const teacher = await syncedTeacher(context, params.teacher_sync_every)
    const answers = await mapConcurrent([...rows.entries()], { limit: params.n_concurrent, signal }, ([at, row]) =>
      answerOf(context, { row, at, student: weights, teacher: teacher.weights }),
    )
    const taught = answers.flatMap(({ taught: each }) => each ?? [])
    const anchors = params.sft_anchor_alpha === 0 ? [] : rows.flatMap((row) => anchorOf(context, row) ?? [])
    const data = [...taught.map(({ datum }) => datum), ...anchors]
    const supervised = sumOf(taught.map((each) => each.supervised))
    const drawn = answers.map(({ drawn: each }) => each)
    return {
      data,
      loss: { name: 'cross_entropy' },
      metrics: {
        'sdft/mean_teacher_entropy': sumOf(taught.map(({ entropy }) => entropy)) / Math.max(1, supervised),
        'sdft/total_completion_tokens': sumOf(drawn.map(({ tokens }) => tokens.length)),
        'sdft/teacher_truncated_count': answers.filter(({ truncated }) => truncated).length,
        'sdft/num_datums': taught.length,
        'sdft/topk': params.topk,
        'sdft/teacher_version': teacher.version,
        'rollout/answers:sum': drawn.length,
        'rollout/length_mean': mean(drawn.map(({ tokens }) => tokens.length)),
        'rollout/truncated_share': mean(drawn.map(({ stopReason }) => (stopReason === 'length' ? 1 : 0))),
        'data/tokens': tokensIn(data),
        'data/supervised_tokens': supervised,
        'data/sequences': data.length,
      },
    }
  },
  stepMetrics({ built, result }) {
    const places = built.metrics?.['data/supervised_tokens'] ?? 0
    const count = built.metrics?.['sdft/num_datums'] ?? 0
    if (places === 0) return {}
    // Anchors come after the taught sequences, and are none of the teacher's.
    const loss = built.data.slice(0, count).reduce((sum, datum, i) => sum + crossEntropy(datum, result.outputs[i]), 0)
    return {
      'train/mean_loss': loss / places,
      'train/mean_logprob': -loss / places,
      'train/loss_n_tokens': places,
      'sdft/mean_kl': loss / places - (built.metrics?.['sdft/mean_teacher_entropy'] ?? 0),
    }
  },
})

async function answerOf(
  context: Context,
  { row, at, student, teacher }: { row: PromptExample; at: number } & Record<'student' | 'teacher', Weights>,
) {
  const { renderer, service, params, random, batchIndex } = context
  const prompt = renderer.prompt(messagesOf(questionOf(row, params), params))
  const [drawn] = await service.sample({
    model: student,
    prompt,
    numSamples: 1,
    maxTokens: params.max_tokens,
    temperature: params.temperature,
    stop: renderer.stop,
    seed: random('sdft', batchIndex, at).int(2 ** 32),
  })
  if (drawn === undefined) throw new EvsysError('BACKEND_FAILED', 'sdft: the service drew no sample')
  const demonstration = fillTemplate(params.demo_template, { ...row.inputs, answer: asText(row.expected) })
  const shown = renderer.prompt(messagesOf(demonstration, params))
  // One place is left: a service scores a prompt while it draws one token more.
  const room = Math.max(0, params.max_context_length - shown.length - 1)
  const kept = drawn.tokens.slice(0, room)
  const truncated = kept.length < drawn.tokens.length
  if (kept.length <= params.skip_first_n_tokens) return { drawn, taught: undefined, truncated }
  const scores = await likeliestInPlace(context, teacher, Int32Array.of(...shown, ...kept), params.topk)
  return { drawn, taught: taughtSequence({ prompt, kept, shown, scores }, params), truncated }
}

// Token i of the answer stands at prompt + i for the student, and at shown + i for the teacher.
function taughtSequence(
  { prompt, kept, shown, scores }: Record<'prompt' | 'kept' | 'shown', Int32Array> & { scores: TopKLogprobs },
  { topk, skip_first_n_tokens }: Params,
): SoftSequence | undefined {
  return softSequence(Int32Array.of(...prompt, ...kept), topk, (place) => {
    const i = place - prompt.length
    return i < skip_first_n_tokens ? undefined : softTarget(scores, shown.length + i)
  })
}

function anchorOf({ renderer, params }: Context, row: PromptExample): Datum | undefined {
  const asked = messagesOf(questionOf(row, params), params)
  const answer: ChatMessage = { role: 'assistant', content: asText(row.expected) }
  const made = supervisedDatum(renderer.conversation([...asked, answer]), {
    maxTokens: params.max_context_length,
    isTrained: (message) => message === asked.length,
  })
  if (made === undefined) return undefined
  const { tokens, lossInputs } = made.datum
  const { target_tokens, weights } = lossInputs
  if (target_tokens === undefined || weights === undefined) return undefined
  const scaled = Float64Array.from(weights.data, (weight) => weight * params.sft_anchor_alpha)
  return { tokens, lossInputs: { target_tokens, weights: { data: scaled, shape: weights.shape } } }
}

function questionOf({ inputs }: PromptExample, { user_template }: Params): string {
  return fillTemplate(user_template, inputs)
}

function messagesOf(content: string, { system_prompt }: Params): ChatMessage[] {
  const system: ChatMessage[] = system_prompt === undefined ? [] : [{ role: 'system', content: system_prompt }]
  return [...system, { role: 'user', content }]
}

function crossEntropy({ lossInputs }: Datum, output: FwdBwd['outputs'][number] | undefined) {
  const weights = lossInputs.weights?.data ?? new Float64Array()
  let sum = 0
  for (const [i, weight] of weights.entries()) if (weight !== 0) sum -= weight * (output?.logprobs?.data[i] ?? 0)
  return sum
}

// A teacher that follows its student: every N steps it takes the student's weights and stays with them. Which weights these are follows
// from the number of the step. They live no longer than the process: a run that resumes between two such steps takes its teacher from
// where it resumes, which the version shows; one that resumes at such a step has the teacher that it had.
/** The teacher of a step, with the optimiser steps that it had seen; `every` undefined: the start of the run. */
async function syncedTeacher(
  { step, reference, keepPolicy, once }: Context,
  every: number | undefined,
): Promise<Pick<KeptPolicy, 'weights' | 'version'> | { weights: Weights; version: number }> {
  const due = every === undefined ? 0 : step - (step % every)
  if (due === 0) return { weights: reference, version: 0 }
  const none = async (): Promise<{ due: number; policy?: KeptPolicy | undefined }> => ({ due: 0 })
  const kept = await once('distill/synced-teacher', none)
  if (kept.due !== due) {
    await kept.policy?.release()
    kept.policy = await keepPolicy()
    kept.due = due
  }
  return kept.policy ?? { weights: reference, version: 0 }
}

// Texts with places for the fields of a row: `{question}`.
/** A field that is no text is written as JSON. A place without a field is an error; `{{` and `}}` stand for braces. */
export function fillTemplate(template: string, fields: Readonly<Record<string, unknown>>): string {
  return template.replaceAll(/\{\{|\}\}|\{([^{}\s]+)\}/g, (whole, name: string | undefined) => {
    if (name === undefined) return whole.slice(1)
    if (Object.hasOwn(fields, name)) return asText(fields[name])
    throw new EvsysError('DATA_INVALID', `a row has no field ${JSON.stringify(name)} for the template`, {
      fix: `name one of ${Object.keys(fields).join(', ')}, or write {{${name}}} for the braces themselves.`,
    })
  })
}

/** An answer of a row as text. */
function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
