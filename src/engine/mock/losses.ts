// The losses of the training protocol. Each is a plain sum over tokens and data, never a mean: callers normalise through weights
// or advantages. p is the model's log-probability of the target, q the one it was sampled with, A its advantage, r = exp(p - q).
import type { NamedLoss } from '../../contracts/index.ts'
import { refused } from './refused.ts'

/** Loss of one target, and its derivative by p. */
export type TokenLoss = { readonly loss: number; readonly derivative: number }

export interface LossFunction {
  /** Per-token inputs besides `target_tokens`; all are required, no other is allowed. */
  readonly inputs: readonly string[]
  /** Whether a position may have several weighted targets: `[N, K]`. */
  readonly manyTargets: boolean
  readonly token: (p: number, inputs: readonly number[]) => TokenLoss
}

/** The loss of a request, with its config checked and filled in. */
export function lossFunction({ name, config = {} }: NamedLoss): LossFunction {
  const make = losses[name]
  if (make === undefined || !Object.hasOwn(losses, name)) {
    throw refused(`no loss is called "${name}"`, `use one of ${Object.keys(losses).join(', ')}, or a custom loss.`)
  }
  const settings = { ...make.defaults }
  for (const [key, value] of Object.entries(config)) {
    if (!Object.hasOwn(make.defaults, key)) {
      throw refused(
        `the loss ${name} has no setting "${key}"`,
        `known: ${Object.keys(make.defaults).join(', ') || 'none'}.`,
      )
    }
    if (!Number.isFinite(value)) throw refused(`the setting "${key}" of ${name} is ${value}`, 'give it a number.')
    settings[key] = value
  }
  return { inputs: make.inputs, manyTargets: make.manyTargets ?? false, token: make.token(settings) }
}

/** The names of all losses. */
export const lossNames = (): string[] => Object.keys(losses)

type LossMaker = {
  inputs: readonly string[]
  manyTargets?: boolean
  defaults: Readonly<Record<string, number>>
  token: (settings: Readonly<Record<string, number>>) => LossFunction['token']
}

const nothing: TokenLoss = { loss: 0, derivative: 0 }
const policyInputs = ['logprobs', 'advantages']

const losses: Readonly<Record<string, LossMaker>> = {
  // -w p
  cross_entropy: {
    inputs: ['weights'],
    manyTargets: true,
    defaults: {},
    token:
      () =>
      (p, [weight = 0]) =>
        weight === 0 ? nothing : { loss: -weight * p, derivative: -weight },
  },
  // -r A; dr/dp = r
  importance_sampling: {
    inputs: policyInputs,
    defaults: {},
    token: () => policyToken((_p, ratio, advantage) => ({ loss: -ratio * advantage, derivative: -ratio * advantage })),
  },
  // -min(r A, clip(r) A); where the clipped one is smaller it is a constant
  ppo: {
    inputs: policyInputs,
    defaults: { clip_low_threshold: 0.8, clip_high_threshold: 1.2 },
    token: ({ clip_low_threshold: low = 0, clip_high_threshold: high = 0 }) =>
      policyToken((_p, ratio, advantage) => {
        const plain = ratio * advantage
        const clipped = Math.min(high, Math.max(low, ratio)) * advantage
        return clipped < plain ? { loss: -clipped, derivative: 0 } : { loss: -plain, derivative: -plain }
      }),
  },
}

// Without advantage there is no loss, whatever the ratio: prompts carry no log-probabilities.
function policyToken(loss: (p: number, ratio: number, advantage: number) => TokenLoss): LossFunction['token'] {
  return (p, [q = 0, advantage = 0]) => (advantage === 0 ? nothing : loss(p, Math.exp(p - q), advantage))
}
