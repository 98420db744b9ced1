// Reinforcement learning from verified rewards: the policy answers each task several times, and answers that earned more than their
// group become likelier, token by token, at the cost of those that earned less.
import type { Batch, HarborTask, StepContext } from '../../contracts/index.ts'
import { defineAlgorithm, EvsysError, withoutUndefined } from '../../kernel/index.ts'
import { sumOf, tokensIn } from '../sequences/rollouts.ts'
import { batchLoss, type LossSequence } from './batch-loss.ts'
import { type ComparedGroup, verifiedReward } from './compare-group.ts'
import { type DrawnBatch, openTasks, remember, rolloutsOf, type Successes } from './draw-groups.ts'
import { rolloutMetrics, trainingMetrics } from './metrics.ts'
import {
  klToReference,
  type PolicySequence,
  policySequences,
  referenceLogprobs,
  scalesOf,
  trainedDatum,
  withKlPenalty,
} from './policy-sequences.ts'
import { concurrencyOf, RlParams } from './rl-params.ts'

type Step = StepContext<RlParams, 'harbor_task'>

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
    if (trained.data.length === 0) warnOfEmptyStep(context, drawn)
    return { ...trained, metrics: { ...rolloutMetrics(drawn, step), ...trained.metrics } }
  },
  stepMetrics: ({ built, result, params }) => trainingMetrics(built, result, params),
})

/** Whether a rollout can give it a reward. A folder of tests carries its place and its digest. */
function isJudged({ verifier, metadata }: HarborTask): boolean {
  return verifier.kind === 'in_process' || (verifier.kind === 'e2b' && typeof metadata.task_digest === 'string')
}

// Where not one answer of a run has ever been judged, nothing will come of the next step either.
async function checkJudged(context: Step, { groups }: DrawnBatch): Promise<void> {
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

function warnOfEmptyStep({ log, step }: Step, { groups }: DrawnBatch): void {
  const count = (wanted: ComparedGroup['state']) => groups.filter(({ state }) => state === wanted).length
  const found = `${count('constant')} are constant, ${count('dropped')} too small`
  log('warn', `rl: step ${step} trains on nothing: of ${groups.length} groups ${found}`)
}

// What a step trains on: the answers of its groups as sequences, their advantages with penalty and scale, and the loss.
async function trainedBatch(context: Step, groups: readonly ComparedGroup[]): Promise<Batch> {
  const { params } = context
  const { kl_coef, kl_in, constant_groups, normalise } = params
  const kept = groups.filter(({ state }) => state === 'useful' || (state === 'constant' && constant_groups === 'keep'))
  const drawn = kept.flatMap((group) => sequencesOf(group, context))
  const references = kl_coef === 0 ? undefined : await askReference(context, drawn)
  const penalised = references === undefined || kl_in === 'loss' ? drawn : withKlPenalty(drawn, references, kl_coef)
  const scales = scalesOf(penalised, normalise)
  const sequences = penalised.map((sequence, s): LossSequence => {
    const scale = scales[s] ?? 1
    const reference = kl_in === 'loss' ? references?.[s] : undefined
    const advantages = sequence.advantages.map((advantage) => advantage * scale)
    return { ...sequence, advantages, scale, reference }
  })
  const data = sequences.flatMap((sequence) => trainedDatum(sequence) ?? [])
  return {
    data,
    loss: batchLoss(sequences, params),
    metrics: withoutUndefined({
      'data/sequences': data.length,
      'data/tokens': tokensIn(data),
      'data/supervised_tokens': sumOf(sequences.map(({ trained }) => trained)),
      'optim/kl_reference':
        references === undefined || drawn.length === 0 ? undefined : klToReference(drawn, references),
    }),
  }
}

function sequencesOf({ members }: ComparedGroup, { params, step, renderer }: Step): PolicySequence[] {
  const { max_steps_off_policy, num_substeps } = params
  // The bound of the schedule: a turn that were older is not trained on.
  const staleness = { trainStep: step, maxStepsOffPolicy: (max_steps_off_policy + 1) * num_substeps - 1 }
  const options = { staleness, extendsHistory: renderer.extendsHistory }
  return members.flatMap(({ answer, advantages }) => policySequences(answer, advantages, options))
}

function askReference(context: Step, sequences: readonly PolicySequence[]): Promise<Float64Array[]> {
  const { params, rows, service, signal } = context
  const reference = params.kl_reference === 'start' ? context.reference : context.base
  return referenceLogprobs(sequences, { reference, service, signal, limit: concurrencyOf(params, rows) })
}
