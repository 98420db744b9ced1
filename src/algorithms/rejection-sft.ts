// Rejection sampling: the policy answers each task several times, what the task's verifier accepts is trained on as if it had been
// written by hand. What is sampled follows the policy as it gets better.
import * as z from 'zod'
import type { Trajectory } from '../contracts/index.ts'
import { defineAlgorithm, withoutUndefined } from '../kernel/index.ts'
import { guardParams, rolloutParams } from './params/guard-params.ts'
import { count, nonNegative, noRecipe, sharedParams } from './params/shared-params.ts'
import { supervisedSequence } from './sequences/datums.ts'
import { mergeTurns } from './sequences/merge-turns.ts'
import { drawAnswers, drawnTokens, mean, meanNll, sumOf, tokensIn } from './sequences/rollouts.ts'

const Params = z.strictObject({
  ...sharedParams,
  num_samples: count
    .max(1024)
    .default(4)
    .describe('Answers to each task.')
    .meta({ search: { values: [2, 4, 8], area: 'sampling' } }),
  min_reward: z.number().default(1).describe('Reward from which on an answer is trained on.'),
  keep_per_task: count.optional().describe('Most answers to a task that are trained on; absent: all that differ.'),
  max_tokens: count.default(256).describe('Longest answer.'),
  temperature: nonNegative
    .default(1)
    .describe('Of sampling; 0 gives the same answer every time.')
    .meta({ search: { from: 0.6, to: 1.2, area: 'sampling' } }),
  ...rolloutParams,
  n_concurrent: count.default(8).describe('Answers that are drawn at a time.').meta(noRecipe),
  ...guardParams,
})
type Params = z.output<typeof Params>

/** Trains on the policy’s own answers that a verifier accepts. */
export const rejectionSft = defineAlgorithm({
  kind: 'rejection_sft',
  summary: 'Rejection-sampling SFT: trains on the policy’s own answers to tasks that the tasks’ verifiers accept.',
  params: Params,
  rowFormat: 'harbor_task',
  async buildBatch(context) {
    const { batch, params } = context
    const tasks = batch(params.batch_size)
    const answers = await drawAnswers(context, tasks, 'rejection')
    const kept = tasks.map((_, i) => chosenOf(answers[i] ?? [], params))
    const all = answers.flat()
    const drawn = all.flatMap(({ turns }) => turns.flatMap(({ tokens }) => [...(tokens?.logprobs ?? [])]))
    const good = all.filter((each) => isGood(each, params.min_reward))
    const scored = all.flatMap(({ reward }) => reward ?? [])
    const data = kept
      .flat()
      .flatMap(({ turns }) => mergeTurns(turns).sequences.flatMap((each) => supervisedSequence(each) ?? []))
    return {
      data,
      loss: { name: 'cross_entropy' },
      metrics: withoutUndefined({
        'data/rows': data.length,
        'data/tokens': tokensIn(data),
        'data/supervised_tokens': sumOf(kept.flat().map(drawnTokens)),
        'rollout/answers:sum': all.length,
        'rollout/failed:sum': all.length - scored.length,
        'rollout/length_mean': all.length === 0 ? undefined : drawn.length / all.length,
        'optim/entropy': drawn.length === 0 ? undefined : -mean(drawn),
        'rollout/cut:sum': good.filter(({ truncated }) => truncated !== undefined).length,
        'rollout/accepted_share': good.length / Math.max(1, all.length),
        'rollout/solved_tasks': kept.filter((each) => each.length > 0).length / Math.max(1, tasks.length),
        'reward/mean': scored.length === 0 ? undefined : mean(scored),
      }),
    }
  },
  stepMetrics: meanNll,
})

const isGood = ({ reward }: Trajectory, least: number) => reward !== undefined && reward >= least

/** Whole answers with enough reward, each once. */
function chosenOf(answers: readonly Trajectory[], { min_reward, keep_per_task }: Params): Trajectory[] {
  const chosen = new Map<string, Trajectory>()
  for (const answer of answers) {
    const { turns, truncated } = answer
    const drawn = turns.flatMap(({ tokens }) => tokens ?? [])
    const isWhole = drawn.length > 0 && drawn.length === turns.length && truncated === undefined
    if (!isWhole || !isGood(answer, min_reward)) continue
    const key = drawn.map(({ completion }) => completion.join()).join(' ')
    if (!chosen.has(key)) chosen.set(key, answer)
  }
  return [...chosen.values()].slice(0, keep_per_task)
}
