// The loss of a batch: a named one of the training protocol where that says all, else the same mathematics here.
import type { CustomLoss, Loss, Tensor } from '../../contracts/index.ts'
import type { PolicySequence } from './policy-sequences.ts'
import { lossDefaults, type PolicyLoss, type RlParams } from './rl-params.ts'

/** A sequence that is trained on. Its advantages hold `scale` already. */
export interface LossSequence extends PolicySequence {
  readonly scale: number
  /** Log-probabilities of the reference, where the loss has a penalty. */
  readonly reference?: Float64Array | undefined
}

type LossParams = Pick<RlParams, 'loss' | 'loss_config' | 'kl_coef' | 'normalise'>

/** `sequences`: those of the data, in order. */
export function batchLoss(sequences: readonly LossSequence[], params: LossParams): Loss {
  const { loss: name, kl_coef, normalise } = params
  const config = settingsOf(params)
  const hasPenalty = sequences.some(({ reference }) => reference !== undefined)
  const isUneven = name === 'dro' && (normalise === 'sequence' || normalise === 'trajectory')
  if (hasPenalty || isUneven) return customLoss(sequences, { name, config, klCoef: hasPenalty ? kl_coef : 0 })
  // The penalty of dro has no advantage in it that could carry the scale.
  const { beta } = config
  const scale = sequences[0]?.scale ?? 1
  return { name, config: beta === undefined ? config : { ...config, beta: beta * scale } }
}

/** The settings of a loss, with those that were not given. */
export function settingsOf({ loss, loss_config }: Pick<RlParams, 'loss' | 'loss_config'>) {
  return { ...lossDefaults[loss], ...loss_config }
}

interface CustomOptions {
  readonly name: RlParams['loss']
  readonly config: Readonly<Record<string, number>>
  readonly klCoef: number
}

/**
 * The policy loss plus klCoef/2 (p - reference)^2 for each trained token. The gradient of that square, taken at tokens that the policy
 * drew, is that of KL(policy, reference).
 */
export function customLoss(sequences: readonly LossSequence[], { name, config, klCoef }: CustomOptions): CustomLoss {
  return {
    custom(_data, logprobs) {
      let loss = 0
      const gradients = sequences.map((sequence, s): Tensor => {
        const { mask, logprobs: drawn, advantages, scale, reference } = sequence
        const { beta } = config
        const scaled = beta === undefined ? config : { ...config, beta: beta * scale }
        const p_T = logprobs[s]?.data ?? []
        const gradient = Float64Array.from(p_T, (p, position) => {
          const t = position + 1 // position t of the data belongs to the token after it
          if (mask[t] !== 1) return 0
          const token = tokenLoss(name, scaled, { p, q: drawn[t] ?? 0, advantage: advantages[t] ?? 0 })
          const away = reference === undefined ? 0 : p - (reference[t] ?? 0)
          loss += token.loss + 0.5 * klCoef * scale * away * away
          return token.derivative + klCoef * scale * away
        })
        return { data: gradient, shape: [gradient.length] }
      })
      return { loss, gradients }
    },
  }
}

// The losses of a policy, for what the service cannot compute: a penalty beside them, or a scale for each token. The same
// mathematics as the named losses of the training protocol. p is the log-probability in training, q the one a token was drawn with,
// A its advantage, r = exp(p - q); sg keeps its argument out of the gradient.
type LossConfig = Readonly<Record<string, number>>

interface PolicyToken {
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
