// Supervised fine-tuning: the likelihood of what assistants said, token by token.
import * as z from 'zod'
import type { ChatMessagesRow, OpenRenderer } from '../contracts/index.ts'
import { defineAlgorithm, EvsysError } from '../kernel/index.ts'
import { sharedParams } from './shared-params.ts'
import { type SupervisedDatum, supervisedDatum } from './supervised-datum.ts'

const Params = z.strictObject({
  ...sharedParams,
  max_seq_len: z.int().min(2).default(2048).describe('Longest conversation, in tokens; what is longer loses its end.'),
  supervise: z
    .enum(['all_assistant', 'last_assistant'])
    .default('all_assistant')
    .describe('Which assistant messages are trained on.'),
})

/** Trains on the assistant messages of conversations. */
export const sft = defineAlgorithm({
  kind: 'sft',
  summary: 'Supervised fine-tuning: raises the likelihood of the assistant messages in chat rows.',
  params: Params,
  rowFormat: 'chat_messages',
  async setup({ rows, renderer, params }) {
    // One trainable row is enough to start; the first usually is it. None at all would make a run of empty steps.
    if (rows.some((row) => toDatum(row, renderer, params) !== undefined)) return
    throw new EvsysError('DATA_INVALID', `sft: none of the ${rows.length} rows has an assistant token to train on`, {
      fix: 'give the rows assistant messages, or raise max_seq_len if they are cut off before the answer.',
    })
  },
  async buildBatch({ batch, renderer, params, log, step }) {
    const rows = batch(params.batch_size)
    const made = rows.flatMap((row) => toDatum(row, renderer, params) ?? [])
    const dropped = rows.length - made.length
    if (dropped > 0)
      log('warn', `sft: step ${step} leaves out ${dropped} of ${rows.length} rows without trainable tokens`)
    return {
      data: made.map(({ datum }) => datum),
      loss: { name: 'cross_entropy' },
      metrics: {
        'data/rows': made.length,
        'data/dropped_rows': dropped,
        'data/truncated_rows': made.filter(({ truncated }) => truncated).length,
        'data/tokens': total(made, ({ datum }) => datum.tokens.length),
        'data/supervised_tokens': total(made, ({ supervised }) => supervised),
      },
    }
  },
  stepMetrics({ built, result }) {
    const supervised = built.metrics?.['data/supervised_tokens'] ?? 0
    const loss = result.metrics['loss:sum']
    return loss === undefined || supervised === 0 ? {} : { train_mean_nll: loss / supervised }
  },
})

type Recipe = Pick<z.output<typeof Params>, 'max_seq_len' | 'supervise'>

function toDatum(row: ChatMessagesRow, renderer: OpenRenderer, recipe: Recipe): SupervisedDatum | undefined {
  const last = row.messages.findLastIndex(({ role }) => role === 'assistant')
  return supervisedDatum(renderer.conversation(row.messages), {
    maxTokens: recipe.max_seq_len,
    isTrained: (message) => recipe.supervise === 'all_assistant' || message === last,
  })
}

function total<T>(items: readonly T[], amountOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + amountOf(item), 0)
}
