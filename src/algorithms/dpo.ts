// Direct preference optimisation: of two answers the better one becomes likelier than the worse one, measured against the weights
// that the run started from. Their log-probabilities are asked for once per row.
import * as z from 'zod'
import type {
  ChatMessage,
  Datum,
  Metrics,
  OpenRenderer,
  PreferencePair,
  SetupContext,
  Tensor,
} from '../contracts/index.ts'
import { defineAlgorithm, EvsysError } from '../kernel/index.ts'
import { maxSeqLen, nonNegative, positive, sharedParams } from './params/shared-params.ts'
import { type SupervisedDatum, supervisedDatum } from './sequences/datums.ts'
import { sumOf, tokenLogprobs, tokensIn } from './sequences/rollouts.ts'

const Params = z.strictObject({
  ...sharedParams,
  learning_rate: nonNegative
    .default(1e-5)
    .describe('Peak learning rate.')
    .meta({ search: { from: 1e-6, to: 1e-3, scale: 'log', area: 'optimizer' } }),
  beta: positive
    .default(0.1)
    .describe('How much the policy is held to its start: higher is closer.')
    .meta({ search: { from: 0.02, to: 1, scale: 'log', area: 'algorithm' } }),
  label_smoothing: nonNegative
    .lt(0.5)
    .default(0)
    .describe('Share of pairs that may be labelled the wrong way round.')
    .meta({ search: { values: [0, 0.05, 0.1, 0.2], area: 'algorithm' } }),
  max_seq_len: maxSeqLen,
})
type Params = z.output<typeof Params>

/** Trains on pairs of a better and a worse answer. */
export const dpo = defineAlgorithm({
  kind: 'dpo',
  summary: 'Direct preference optimisation: makes the chosen answers of pairs likelier than the rejected ones.',
  params: Params,
  rowFormat: 'preference_pair',
  async setup({ rows, renderer, params }) {
    if (rows.some((row) => toPair(row, renderer, params) !== undefined)) return
    throw new EvsysError('DATA_INVALID', `dpo: none of the ${rows.length} rows has two answers to compare`, {
      fix: 'give the rows chosen and rejected answers, or raise max_seq_len if they are cut off before them.',
    })
  },
  async buildBatch(context) {
    const { batch, renderer, params, log, step } = context
    const rows = batch(params.batch_size)
    const made = rows.flatMap((row) => {
      const pair = toPair(row, renderer, params)
      return pair === undefined ? [] : [{ row, pair }]
    })
    const dropped = rows.length - made.length
    if (dropped > 0) log('warn', `dpo: step ${step} leaves out ${dropped} of ${rows.length} rows without two answers`)
    const references = await Promise.all(made.map(({ row, pair }) => referenceOf(context, row, pair)))
    const data = made.flatMap(({ pair }) => [pair.chosen.datum, pair.rejected.datum])
    const { beta, label_smoothing: labelSmoothing } = params
    return {
      data,
      loss: { custom: (passed, logprobs) => dpoLoss(passed, logprobs, references, { beta, labelSmoothing }) },
      metrics: {
        'data/pairs': made.length,
        'data/dropped_rows': dropped,
        'data/tokens': tokensIn(data),
        'data/supervised_tokens': sumOf(made.map(({ pair }) => pair.chosen.supervised + pair.rejected.supervised)),
      },
    }
  },
})

type Pair = Readonly<Record<'chosen' | 'rejected', SupervisedDatum>>

function toPair(row: PreferencePair, renderer: OpenRenderer, { max_seq_len }: Params): Pair | undefined {
  const answered = (answer: PreferencePair['chosen']) => {
    const added: readonly ChatMessage[] = typeof answer === 'string' ? [{ role: 'assistant', content: answer }] : answer
    return supervisedDatum(renderer.conversation([...row.messages, ...added]), {
      maxTokens: max_seq_len,
      isTrained: (message) => message >= row.messages.length,
    })
  }
  const chosen = answered(row.chosen)
  const rejected = answered(row.rejected)
  return chosen === undefined || rejected === undefined ? undefined : { chosen, rejected }
}

async function referenceOf(
  context: SetupContext<Params, 'preference_pair'>,
  row: PreferencePair,
  pair: Pair,
): Promise<ReferencePair> {
  const known = await context.once('dpo/reference', async () => new Map<PreferencePair, Promise<ReferencePair>>())
  const sums = async () => {
    const [chosen, rejected] = await Promise.all([
      referenceSum(context, pair.chosen),
      referenceSum(context, pair.rejected),
    ])
    return { chosen, rejected }
  }
  const found = known.get(row) ?? sums()
  known.set(row, found)
  return await found
}

/** Log-probability of what is trained on, under the reference. */
async function referenceSum(
  { service, reference }: SetupContext<Params, 'preference_pair'>,
  { datum }: SupervisedDatum,
): Promise<number> {
  const { target_tokens, weights } = datum.lossInputs
  const targets = target_tokens?.data ?? []
  const prompt = Int32Array.from([...datum.tokens, ...targets.slice(-1)])
  const logprobs = await tokenLogprobs({ service }, reference, prompt)
  // Position t of the weights belongs to the token after it.
  let sum = 0
  for (const [t, weight] of (weights?.data ?? new Float32Array()).entries()) {
    if (weight !== 0) sum += weight * (logprobs[t + 1] ?? 0)
  }
  return sum
}

// Direct preference optimisation (Rafailov et al. 2023) with label smoothing (conservative DPO, Mitchell 2023), as a loss on
// log-probabilities. For one pair, with p the policy, r the reference, sums over the tokens of an answer:
//   z = beta ((log p(chosen) - log r(chosen)) - (log p(rejected) - log r(rejected)))
//   L = -(1 - e) log sigmoid(z) - e log sigmoid(-z)
/** Log-probabilities of the two answers under the reference. */
type ReferencePair = Readonly<Record<'chosen' | 'rejected', number>>

/** `data` holds chosen and rejected in turn. The loss is a sum over pairs; its gradient is by log-probability. */
export function dpoLoss(
  data: readonly Datum[],
  logprobs: readonly Tensor[],
  references: readonly ReferencePair[],
  { beta, labelSmoothing }: { beta: number; labelSmoothing: number },
): { loss: number; gradients: Tensor[]; metrics: Metrics } {
  const weightsOf = (i: number) => data[i]?.lossInputs.weights?.data ?? []
  const gradients: Tensor[] = []
  const pairs = references.map((reference, i) => {
    const chosen = beta * (weighted(logprobs[2 * i], weightsOf(2 * i)) - reference.chosen)
    const rejected = beta * (weighted(logprobs[2 * i + 1], weightsOf(2 * i + 1)) - reference.rejected)
    const z = chosen - rejected
    const slope = beta * (labelSmoothing * sigmoid(z) - (1 - labelSmoothing) * sigmoid(-z))
    gradients.push(scaled(weightsOf(2 * i), slope), scaled(weightsOf(2 * i + 1), -slope))
    const loss = (1 - labelSmoothing) * softplus(-z) + labelSmoothing * softplus(z)
    return { chosen, rejected, z, loss, isRight: z > 0 ? 1 : z === 0 ? 0.5 : 0 }
  })
  const mean = (of: (pair: (typeof pairs)[number]) => number) => sumOf(pairs.map(of)) / Math.max(1, pairs.length)
  return {
    loss: sumOf(pairs.map((pair) => pair.loss)),
    gradients,
    metrics: {
      'dpo/loss': mean((pair) => pair.loss),
      'dpo/accuracy': mean((pair) => pair.isRight),
      'dpo/margin': mean((pair) => pair.z),
      'dpo/chosen_reward': mean((pair) => pair.chosen),
      'dpo/rejected_reward': mean((pair) => pair.rejected),
    },
  }
}

function weighted(tensor: Tensor | undefined, weights: ArrayLike<number>): number {
  let sum = 0
  for (let t = 0; t < weights.length; t++) sum += (weights[t] ?? 0) * (tensor?.data[t] ?? 0)
  return sum
}

function scaled(weights: ArrayLike<number>, slope: number): Tensor {
  return { data: Float64Array.from(weights, (weight) => weight * slope), shape: [weights.length] }
}

// Neither overflows, whatever the margin.
function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)))
}

function sigmoid(x: number): number {
  const e = Math.exp(-Math.abs(x))
  return x >= 0 ? 1 / (1 + e) : e / (1 + e)
}
