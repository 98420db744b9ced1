// Reinforcement learning from verified rewards: the policy answers each task several times, and answers that earned more than their
// group become likelier, token by token, at the cost of those that earned less.
import type { HarborTask, StepContext } from '../../contracts/index.ts'
import { defineAlgorithm, EvsysError } from '../../kernel/index.ts'
import { verifiedReward } from './answer-reward.ts'
import { openTasks, remember, type Successes } from './curriculum.ts'
import type { DrawnBatch } from './draw-batch.ts'
import { RlParams } from './rl-params.ts'
import { rolloutMetrics } from './rollout-metrics.ts'
import { rolloutsOf } from './rollouts-ahead.ts'
import { trainedBatch } from './trained-batch.ts'
import { trainingMetrics } from './training-metrics.ts'

/** Trains on the policy’s own answers by the rewards that their tasks’ verifiers give. */
export const rl = defineAlgorithm({
  kind: 'rl',
  summary:
    'Reinforcement learning: groups of the policy’s own answers to tasks, trained on by how they compare in reward.',
  params: RlParams,
  rowFormat: 'harbor_task',
  async setup({ rows }) {
    if (rows.some(isJudged)) return
    throw new EvsysError('DATA_INVALID', `rl: none of the ${rows.length} tasks has a verifier that training can ask`, {
      fix: 'give tasks a verifier of kind in_process, or use task folders with tests.',
    })
  },
  async buildBatch(context) {
    const { params, step, random, rows } = context
    const { curriculum, batch_size } = params
    const successes = await context.once('rl/successes', async (): Promise<Successes> => new Map())
    const drawn = await rolloutsOf(context, ({ batch, batchIndex }) =>
      curriculum.kind === 'uniform'
        ? batch(batch_size)
        : openTasks(rows, batch_size, { ...curriculum, successes, random: random('curriculum', batchIndex) }),
    )
    remember(successes, drawn.groups, curriculum)
    await checkJudged(context, drawn)
    const trained = await trainedBatch(context, drawn.groups)
    if (trained.data.length === 0) tellNothing(context, drawn)
    return { ...trained, metrics: { ...rolloutMetrics(drawn, step), ...trained.metrics } }
  },
  stepMetrics: ({ built, result, params }) => trainingMetrics(built, result, params),
})

/** Whether a rollout can give it a reward. A folder of tests carries its place and its digest. */
function isJudged({ verifier, metadata }: HarborTask): boolean {
  return verifier.kind === 'in_process' || (verifier.kind === 'e2b' && typeof metadata.task_digest === 'string')
}

// Where not one answer of a run has ever been judged, nothing will come of the next step either.
async function checkJudged(context: StepContext<RlParams, 'harbor_task'>, { groups }: DrawnBatch): Promise<void> {
  const seen = await context.once('rl/judged', async () => ({ any: false }))
  const answers = groups.flatMap((group) => group.answers)
  seen.any ||= answers.some((answer) => verifiedReward(answer) !== undefined)
  if (seen.any) return
  const error = answers.find((answer) => answer.error !== undefined)?.error
  throw new EvsysError(
    error?.code ?? 'PLUGIN_FAILED',
    `rl: none of the first ${answers.length} answers has a reward: ${error?.message ?? 'nothing was scored'}`,
    { fix: error?.fix ?? 'check the agent and the verifiers of the tasks.' },
  )
}

function tellNothing({ log, step }: StepContext<RlParams, 'harbor_task'>, { groups }: DrawnBatch): void {
  const constant = groups.filter(({ state }) => state === 'constant').length
  const dropped = groups.filter(({ state }) => state === 'dropped').length
  log(
    'warn',
    `rl: step ${step} trains on nothing: of ${groups.length} groups ${constant} are constant, ${dropped} too small`,
  )
}
