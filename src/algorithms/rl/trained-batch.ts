// What a step trains on: the answers of its groups as sequences, their advantages with penalty and scale, and the loss.
import type { Batch, StepContext } from '../../contracts/index.ts'
import { batchLoss, type LossSequence } from './batch-loss.ts'
import type { ComparedGroup } from './compare-group.ts'
import { klToReference, withKlPenalty } from './kl-penalty.ts'
import { scalesOf } from './normalise.ts'
import { type PolicySequence, policySequences } from './policy-sequences.ts'
import { referenceLogprobs } from './reference-logprobs.ts'
import { concurrencyOf, type RlParams } from './rl-params.ts'
import { trainedDatum } from './trained-datum.ts'

type Step = StepContext<RlParams, 'harbor_task'>

export async function trainedBatch(context: Step, groups: readonly ComparedGroup[]): Promise<Batch> {
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
    return { ...sequence, advantages, scale, ...(reference === undefined ? {} : { reference }) }
  })
  const data = sequences.flatMap((sequence) => trainedDatum(sequence) ?? [])
  return {
    data,
    loss: batchLoss(sequences, params),
    metrics: {
      'data/sequences': data.length,
      'data/tokens': data.reduce((sum, { tokens }) => sum + tokens.length, 0),
      'data/supervised_tokens': sequences.reduce((sum, { trained }) => sum + trained, 0),
      ...(references === undefined || drawn.length === 0
        ? {}
        : { 'optim/kl_reference': klToReference(drawn, references) }),
    },
  }
}

function sequencesOf({ members }: ComparedGroup, { params, step, renderer }: Step): PolicySequence[] {
  const { max_steps_off_policy, num_substeps } = params
  // The bound of the schedule: a turn that were older is not trained on.
  const staleness = { trainStep: step, maxStepsOffPolicy: (max_steps_off_policy + 1) * num_substeps - 1 }
  const { extendsHistory } = renderer
  const options = { staleness, ...(extendsHistory === undefined ? {} : { extendsHistory }) }
  return members.flatMap(({ answer, advantages }) => policySequences(answer, advantages, options))
}

function askReference(context: Step, sequences: readonly PolicySequence[]): Promise<Float64Array[]> {
  const { params, rows, service, signal } = context
  const reference = params.kl_reference === 'start' ? context.reference : context.base
  return referenceLogprobs(sequences, { reference, service, signal, limit: concurrencyOf(params, rows) })
}
