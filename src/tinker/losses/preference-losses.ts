// Losses that compare a policy with a reference: datums bring the reference's log-probabilities as `reference_logprobs`, and as
// `weights` which positions count (all, where there are none).
import type { CustomLoss } from '../../contracts/index.ts'
import {
  add,
  clamp,
  concat,
  defineLoss,
  gather,
  type LossBatch,
  logsigmoid,
  mean,
  mul,
  neg,
  sigmoid,
  square,
  stopGradient,
  sub,
  sum,
  type Value,
  where,
} from './operators.ts'

/** Name of the input that holds the reference's log-probabilities. */
export const referenceInput = 'reference_logprobs'

/**
 * Direct preference optimisation (Rafailov et al. 2023): the mean of -log sigmoid(beta (h_chosen - h_rejected)), where h is the
 * weighted sum of p - p_reference. Datums come in pairs: chosen, rejected, chosen, rejected, ...
 */
export function dpoLoss({ beta = 0.1 }: { beta?: number | undefined } = {}): CustomLoss {
  return defineLoss((batch) => {
    const { chosen, rejected } = pairs(batch)
    const margin = mul(beta, sub(chosen, rejected))
    const loss = mean(neg(logsigmoid(margin)))
    return { loss, metrics: { dpo_loss: loss.item, ...pairMetrics(mul(beta, chosen), mul(beta, rejected)) } }
  })
}

/** Identity preference optimisation (Azar et al. 2023): the mean of (h_chosen - h_rejected - 1 / (2 beta))^2. Pairs as above. */
export function ipoLoss({ beta = 0.1 }: { beta?: number | undefined } = {}): CustomLoss {
  return defineLoss((batch) => {
    const { chosen, rejected } = pairs(batch)
    const loss = mean(square(sub(sub(chosen, rejected), 1 / (2 * beta))))
    return { loss, metrics: { ipo_loss: loss.item, ...pairMetrics(mul(beta, chosen), mul(beta, rejected)) } }
  })
}

export type KtoOptions = {
  /** Whether a datum, by its place in the batch, is one to imitate. */
  isDesirable: (index: number) => boolean
  beta?: number | undefined
  desirableWeight?: number | undefined
  undesirableWeight?: number | undefined
}

/**
 * After Kahneman-Tversky optimisation (Ethayarajh et al. 2024): the mean of w (1 - sigmoid(+-(beta h - z))), where z, the point of
 * reference, is the mean of beta h over the batch, not below 0 and without a gradient. Datums need no partner.
 */
export function ktoLoss({
  isDesirable,
  beta = 0.1,
  desirableWeight = 1,
  undesirableWeight = 1,
}: KtoOptions): CustomLoss {
  return defineLoss((batch) => {
    const rewards = mul(beta, advantageOverReference(batch))
    const point = stopGradient(clamp(mean(rewards), 0, Number.POSITIVE_INFINITY))
    const desirable = batch.data.map((_, index) => isDesirable(index))
    const distance = sub(rewards, point)
    const value = sigmoid(where(desirable, distance, neg(distance)))
    const weights = desirable.map((good) => (good ? desirableWeight : undesirableWeight))
    const loss = mean(mul(weights, sub(1, value)))
    return { loss, metrics: { kto_loss: loss.item, reference_point: point.item } }
  })
}

function pairs(batch: LossBatch): { chosen: Value; rejected: Value } {
  const count = batch.data.length / 2
  if (!Number.isInteger(count)) throw new RangeError(`${batch.data.length} datums are no pairs of chosen and rejected`)
  const all = advantageOverReference(batch)
  const everySecond = (first: number) =>
    gather(
      all,
      Array.from({ length: count }, (_, pair) => 2 * pair + first),
    )
  return { chosen: everySecond(0), rejected: everySecond(1) }
}

/** Per datum, the weighted sum of p - p_reference. */
function advantageOverReference({ logprobs, input }: LossBatch): Value {
  return concat(
    logprobs.map((own, index) => {
      const reference = input(index, referenceInput)
      if (reference === undefined) throw new RangeError(`datum ${index} lacks ${referenceInput}`)
      const difference = sub(own, reference)
      const weights = input(index, 'weights')
      return sum(weights === undefined ? add(difference, 0) : mul(weights, difference))
    }),
  )
}

function pairMetrics(chosen: Value, rejected: Value) {
  const wins = chosen.data.filter((reward, pair) => reward > (rejected.data[pair] ?? 0)).length
  return {
    accuracy: wins / chosen.length,
    margin: mean(sub(chosen, rejected)).item,
    chosen_reward: mean(chosen).item,
    rejected_reward: mean(rejected).item,
  }
}
