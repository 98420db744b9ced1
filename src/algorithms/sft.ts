// Supervised fine-tuning: the likelihood of what assistants said, token by token.
import * as z from 'zod'
import type { ChatMessagesRow, OpenRenderer, Random, SetupContext } from '../contracts/index.ts'
import { defineAlgorithm, EvsysError } from '../kernel/index.ts'
import { count, maxSeqLen, type RowOrder, sharedParams } from './params/shared-params.ts'
import { type SupervisedDatum, supervisedDatum } from './sequences/datums.ts'
import { meanNll, sumOf, tokensIn } from './sequences/rollouts.ts'

const Params = z.strictObject({
  ...sharedParams,
  max_seq_len: maxSeqLen,
  supervise: z
    .enum(['all_assistant', 'last_assistant'])
    .default('all_assistant')
    .describe('Which assistant messages are trained on.')
    .meta({ search: { area: 'data' } }),
  batch_tokens: count
    .optional()
    .describe('Tokens per batch: as many rows as fit, in place of batch_size rows. Rows stay apart from each other.'),
})

/** Trains on the assistant messages of conversations. */
export const sft = defineAlgorithm({
  kind: 'sft',
  summary: 'Supervised fine-tuning: raises the likelihood of the assistant messages in chat rows.',
  params: Params,
  rowFormat: 'chat_messages',
  async setup({ rows, renderer, params }) {
    // One trainable row is enough to start; the first usually is it. None at all would make a run of empty steps.
    if (rows.some((row) => toData(row, renderer, params).length > 0)) return
    throw new EvsysError('DATA_INVALID', `sft: none of the ${rows.length} rows has an assistant token to train on`, {
      fix: 'give the rows assistant messages, or raise max_seq_len if they are cut off before the answer.',
    })
  },
  async countBatches(context) {
    const { batch_size, batch_tokens, num_epochs } = context.params
    if (batch_tokens === undefined) {
      return num_epochs * Math.max(1, Math.floor(context.rows.length / batch_size))
    }
    return (await tokenBatches(context, batch_tokens)).count(num_epochs)
  },
  async buildBatch(context) {
    const { batch, batchIndex, renderer, params, log, step } = context
    const rows =
      params.batch_tokens === undefined
        ? batch(params.batch_size)
        : (await tokenBatches(context, params.batch_tokens))
            .rowsOf(batchIndex)
            .flatMap((row) => context.rows[row] ?? [])
    const byRow = rows.map((row) => toData(row, renderer, params)).filter((data) => data.length > 0)
    const made = byRow.flat()
    const dropped = rows.length - byRow.length
    if (dropped > 0)
      log('warn', `sft: step ${step} leaves out ${dropped} of ${rows.length} rows without trainable tokens`)
    const data = made.map(({ datum }) => datum)
    return {
      data,
      loss: { name: 'cross_entropy' },
      metrics: {
        'data/rows': byRow.length,
        'data/dropped_rows': dropped,
        'data/truncated_rows': byRow.filter((data) => data.some(({ truncated }) => truncated)).length,
        'data/tokens': tokensIn(data),
        'data/supervised_tokens': sumOf(made.map(({ supervised }) => supervised)),
      },
    }
  },
  stepMetrics: meanNll,
})

type Params = z.output<typeof Params>

// Every row is rendered once to learn its length; a row is rendered again when it is trained on.
function tokenBatches({ once, rows, renderer, params, random }: SetupContext<Params, 'chat_messages'>, budget: number) {
  return once('sft/token-batches', async () =>
    createTokenBatches({
      lengths: rows.map((row) => tokensIn(toData(row, renderer, params).map(({ datum }) => datum))),
      budget,
      random: (epoch) => random('batches', epoch),
      rowOrder: params.row_order,
    }),
  )
}

// One example, or one for each answer where the renderer writes an answer differently once it is history: an answer is trained on
// after the tokens that it would be produced after.
function toData(
  { messages }: ChatMessagesRow,
  renderer: OpenRenderer,
  { max_seq_len: maxTokens, supervise }: Pick<Params, 'max_seq_len' | 'supervise'>,
): SupervisedDatum[] {
  const answers = messages.flatMap(({ role }, i) => (role === 'assistant' ? [i] : []))
  if (supervise === 'all_assistant' && renderer.extendsHistory === false && answers.length > 1) {
    return answers.flatMap((answer) => {
      const rendered = renderer.conversation(messages.slice(0, answer + 1))
      return supervisedDatum(rendered, { maxTokens, isTrained: (message) => message === answer }) ?? []
    })
  }
  const last = answers.at(-1)
  const isTrained = (message: number) => supervise === 'all_assistant' || message === last
  return [supervisedDatum(renderer.conversation(messages), { maxTokens, isTrained }) ?? []].flat()
}

// Batches by their tokens: each takes the rows that follow, in the order of its epoch, until the next one would be too much. A row
// stays one sequence: the training protocol has no way to keep two documents in one sequence apart.
interface TokenBatchesOptions {
  /** Tokens of each row; 0: nothing to train on, the row is in no batch. */
  readonly lengths: readonly number[]
  /** Most tokens of a batch. A row that is longer makes one alone. */
  readonly budget: number
  random(epoch: number): Random
  readonly rowOrder?: RowOrder | undefined
}

export function createTokenBatches({ lengths, budget, random, rowOrder = 'shuffled' }: TokenBatchesOptions) {
  const kept = lengths.flatMap((length, row) => (length > 0 ? [row] : []))
  const epochs: (readonly (readonly number[])[])[] = []
  const batchesOf = (epoch: number) => {
    epochs[epoch] ??= packed(rowOrder === 'given' ? kept : random(epoch).shuffle(kept), lengths, budget)
    return epochs[epoch]
  }
  return {
    /** Rows of a 0-based batch, counted over all epochs. */
    rowsOf(batch: number): readonly number[] {
      if (kept.length === 0) return []
      let left = batch
      for (let epoch = 0; ; epoch++) {
        const batches = batchesOf(epoch)
        const found = batches[left]
        if (found !== undefined) return found
        left -= batches.length
      }
    },
    /** Batches in the first epochs. */
    count: (number: number) => sumOf(Array.from({ length: number }, (_, i) => batchesOf(i).length)),
  }
}

function packed(order: readonly number[], lengths: readonly number[], budget: number): number[][] {
  const batches: number[][] = []
  let room = 0
  for (const row of order) {
    const length = lengths[row] ?? 0
    const last = batches.at(-1)
    if (last !== undefined && length <= room) last.push(row)
    else {
      batches.push([row])
      room = budget
    }
    room -= length
  }
  return batches
}
