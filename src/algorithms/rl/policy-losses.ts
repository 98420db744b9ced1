// The losses of a policy, for what the service cannot compute: a penalty beside them, or a scale for each token. The same
// mathematics as the named losses of the training protocol. p is the log-probability in training, q the one a token was drawn with,
// A its advantage, r = exp(p - q); sg keeps its argument out of the gradient.
import * as z from 'zod'

export const PolicyLoss = z.enum(['importance_sampling', 'ppo', 'cispo', 'dro'])
export type PolicyLoss = z.infer<typeof PolicyLoss>

/** Settings of each loss. They are always sent: services differ in their defaults. */
export const lossDefaults: Readonly<Record<PolicyLoss, Readonly<Record<string, number>>>> = {
  importance_sampling: {},
  ppo: { clip_low_threshold: 0.8, clip_high_threshold: 1.2 },
  cispo: { clip_low_threshold: 0, clip_high_threshold: 4 },
  dro: { beta: 0.05 },
}

export type LossConfig = Readonly<Record<string, number>>

export interface PolicyToken {
  readonly p: number
  readonly q: number
  readonly advantage: number
}

/** Loss of one token and its derivative by p. A token without advantage has none, as in the named losses. */
export function tokenLoss(name: PolicyLoss, config: LossConfig, token: PolicyToken) {
  const { p, q, advantage } = token
  if (advantage === 0) return { loss: 0, derivative: 0 }
  const ratio = Math.exp(p - q)
  const plain = ratio * advantage
  switch (name) {
    // -r A
    case 'importance_sampling':
      return { loss: -plain, derivative: -plain }
    // -min(r A, clip(r) A)
    case 'ppo': {
      const bounded = clipped(ratio, config) * advantage
      return bounded < plain ? { loss: -bounded, derivative: 0 } : { loss: -plain, derivative: -plain }
    }
    // -sg[clip(r)] p A
    case 'cispo': {
      const factor = -clipped(ratio, config) * advantage
      return { loss: factor * p, derivative: factor }
    }
    // -(p A - beta/2 (p - q)^2)
    case 'dro': {
      const { beta = 0 } = config
      return { loss: -p * advantage + 0.5 * beta * (p - q) ** 2, derivative: -advantage + beta * (p - q) }
    }
  }
}

/** Whether the bounds of the loss took part in the gradient of a token. */
export function isClipped(name: PolicyLoss, config: LossConfig, { p, q, advantage }: PolicyToken): boolean {
  const ratio = Math.exp(p - q)
  const bounded = clipped(ratio, config)
  if (name === 'ppo') return bounded * advantage < ratio * advantage
  return name === 'cispo' && advantage !== 0 && bounded !== ratio
}

function clipped(
  ratio: number,
  { clip_low_threshold = 0, clip_high_threshold = Number.POSITIVE_INFINITY }: LossConfig,
) {
  return Math.min(clip_high_threshold, Math.max(clip_low_threshold, ratio))
}
