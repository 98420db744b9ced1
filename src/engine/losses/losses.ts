// The losses of the training protocol. Each is a plain sum over tokens and data, never a mean: callers normalise through weights
// or advantages. p is the model's log-probability of the target, q the one it was sampled with, A its advantage, r = exp(p - q).
import type { NamedLoss } from '../../contracts/index.ts'
import { refused } from '../refused.ts'

/** Loss of one target, and its derivative by p. */
export type TokenLoss = { readonly loss: number; readonly derivative: number }

export interface LossFunction {
  /** Per-token inputs besides `target_tokens`; all are required. */
  readonly inputs: readonly string[]
  /** Per-token inputs that stand in for a setting of the same name. No other input is allowed. */
  readonly optionalInputs: readonly string[]
  /** Whether a position may have several weighted targets: `[N, K]`. */
  readonly manyTargets: boolean
  /** `inputs` are the values of the required inputs, then those of the optional ones; absent ones take the setting's value. */
  readonly token: (p: number, inputs: readonly (number | undefined)[]) => TokenLoss
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
  const { inputs, optionalInputs = [], manyTargets = false, token } = make
  return { inputs, optionalInputs, manyTargets, token: token(settings) }
}

/** The names of all losses. */
export const lossNames = (): string[] => Object.keys(losses)

type LossMaker = {
  inputs: readonly string[]
  optionalInputs?: readonly string[] | undefined
  manyTargets?: boolean | undefined
  defaults: Readonly<Record<string, number>>
  token: (settings: Readonly<Record<string, number>>) => LossFunction['token']
}

const nothing: TokenLoss = { loss: 0, derivative: 0 }
const policyInputs = ['logprobs', 'advantages']
const thresholds = ['clip_low_threshold', 'clip_high_threshold']

const losses: Readonly<Record<string, LossMaker>> = {
  // -w p
  cross_entropy: {
    inputs: ['weights'],
    manyTargets: true,
    defaults: {},
    token: () => weightedToken,
  },
  // -r A; dr/dp = r
  importance_sampling: {
    inputs: policyInputs,
    defaults: {},
    token: () => policyToken(({ ratio, advantage }) => ({ loss: -ratio * advantage, derivative: -ratio * advantage })),
  },
  // -min(r A, clip(r) A); where the clipped one is smaller it is a constant
  ppo: {
    inputs: policyInputs,
    optionalInputs: thresholds,
    defaults: { clip_low_threshold: 0.8, clip_high_threshold: 1.2 },
    token: (settings) =>
      policyToken((token) => {
        const plain = token.ratio * token.advantage
        const bounded = clipped(token, settings) * token.advantage
        return bounded < plain ? { loss: -bounded, derivative: 0 } : { loss: -plain, derivative: -plain }
      }),
  },
  // -sg[clip(r)] p A; no gradient flows through the clipped ratio. The default bounds are one-sided, as the hosted service's are.
  cispo: {
    inputs: policyInputs,
    optionalInputs: thresholds,
    defaults: { clip_low_threshold: 0, clip_high_threshold: 4 },
    token: (settings) =>
      policyToken((token) => {
        const factor = -clipped(token, settings) * token.advantage
        return { loss: factor * token.p, derivative: factor }
      }),
  },
  // -(p A - beta/2 (p - q)^2). The protocol states no default for beta; this is the value of its example.
  dro: {
    inputs: policyInputs,
    defaults: { beta: 0.05 },
    token: ({ beta = 0 }) =>
      policyToken(({ p, q, advantage }) => ({
        loss: -p * advantage + 0.5 * beta * (p - q) * (p - q),
        derivative: -advantage + beta * (p - q),
      })),
  },
}

const weightedToken: LossFunction['token'] = (p, [weight = 0]) =>
  weight === 0 ? nothing : { loss: -weight * p, derivative: -weight }

type PolicyToken = Record<'p' | 'q' | 'ratio' | 'advantage', number> & Record<'low' | 'high', number | undefined>

// Without advantage there is no loss, whatever the ratio: prompts carry no log-probabilities.
function policyToken(loss: (token: PolicyToken) => TokenLoss): LossFunction['token'] {
  return (p, [q = 0, advantage = 0, low, high]) =>
    advantage === 0 ? nothing : loss({ p, q, ratio: Math.exp(p - q), advantage, low, high })
}

function clipped({ ratio, low, high }: PolicyToken, settings: Readonly<Record<string, number>>): number {
  const { clip_low_threshold = 0, clip_high_threshold = Number.POSITIVE_INFINITY } = settings
  return Math.min(high ?? clip_high_threshold, Math.max(low ?? clip_low_threshold, ratio))
}
