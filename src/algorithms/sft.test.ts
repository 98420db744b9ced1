import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pluginContext } from '../../tests/plugin-context.ts'
import type { ChatMessage, ChatMessagesRow, OpenRenderer, Rendered, StepContext } from '../contracts/index.ts'
import { keyedRandom } from '../kernel/index.ts'
import { supervisedDatum } from './sequences/datums.ts'
import { createTokenBatches, sft } from './sft.ts'

/** One token per character; before each message a template token of -1 .. -4 by role, after it an end token -9 that belongs to it. */
const roles = ['system', 'user', 'assistant', 'tool']
const renderer: OpenRenderer = {
  stop: [-9],
  prompt: () => new Int32Array(),
  parse: () => ({ message: { role: 'assistant', content: '' }, complete: true }),
  conversation(messages): Rendered {
    const parts = messages.flatMap(({ role, content }, index) => {
      const isAssistant = role === 'assistant' ? 1 : 0
      const text = Array.from(String(content ?? ''), (char) => [char.charCodeAt(0), index, isAssistant] as const)
      return [[-1 - roles.indexOf(role), -1, 0] as const, ...text, [-9, index, isAssistant] as const]
    })
    return {
      tokens: Int32Array.from(parts, ([token]) => token),
      message: Int32Array.from(parts, ([, message]) => message),
      produced: Uint8Array.from(parts, ([, , produced]) => produced),
    }
  },
}

const say = (role: ChatMessage['role'], content: string): ChatMessage => ({ role, content })
const chat = (...messages: ChatMessage[]): ChatMessagesRow => ({ messages, metadata: {} })

function stepContext(rows: readonly ChatMessagesRow[], params: object = {}) {
  const unused = () => {
    throw new Error('sft needs no rollout')
  }
  const context = pluginContext(sft, params)
  const step: StepContext<typeof context.params, 'chat_messages'> = {
    ...context,
    step: 0,
    batchIndex: 0,
    numSteps: 1,
    rows,
    batch: (size) => rows.slice(0, size),
    renderer,
    tokenizer: { encode: unused, decode: unused, vocabSize: 0 },
    policy: unused,
    keepPolicy: unused,
    later: unused,
    base: { baseModel: 'x' },
    reference: { baseModel: 'x' },
    rollout: unused,
    service: { sample: unused },
    others: { weights: unused, tokenizerOf: unused, client: unused },
    once: unused,
  }
  return { ...step, logged: context.logged }
}

/** The targets that are trained on, as text. */
function trained({ data }: { data: readonly { lossInputs: Record<string, { data: ArrayLike<number> }> }[] }): string[] {
  return data.map(({ lossInputs: { target_tokens, weights } }) =>
    Array.from(target_tokens?.data ?? [])
      .filter((_, at) => weights?.data[at] === 1)
      .map((token) => (token === -9 ? '.' : String.fromCharCode(token)))
      .join(''),
  )
}

const dialog = chat(
  say('system', 's'),
  say('user', 'q'),
  say('assistant', 'one'),
  say('user', 'r'),
  say('assistant', 'two'),
)

describe('sft', () => {
  it('trains on what assistants produced, their ends included, and on nothing else (PLG-10)', async () => {
    const batch = await sft.buildBatch(stepContext([dialog]))
    expect(trained(batch)).toEqual(['one.two.'])
    expect(batch.loss).toEqual({ name: 'cross_entropy' })
    expect(batch.metrics).toEqual({
      'data/rows': 1,
      'data/dropped_rows': 0,
      'data/truncated_rows': 0,
      'data/tokens': 18,
      'data/supervised_tokens': 8,
    })
  })

  it('trains on the last assistant message alone where asked (PLG-10)', async () => {
    expect(trained(await sft.buildBatch(stepContext([dialog], { supervise: 'last_assistant' })))).toEqual(['two.'])
  })

  it('trains on every answer in a conversation that ends with it where history is written otherwise (PLG-10)', async () => {
    const context = { ...stepContext([dialog, dialog]), renderer: { ...renderer, extendsHistory: false } }
    const batch = await sft.buildBatch(context)
    expect(trained(batch)).toEqual(['one.', 'two.', 'one.', 'two.'])
    expect(batch.data[0]?.tokens).toEqual(renderer.conversation(dialog.messages.slice(0, 3)).tokens.slice(0, -1))
    expect(batch.metrics).toMatchObject({ 'data/rows': 2, 'data/dropped_rows': 0, 'data/supervised_tokens': 16 })
    const last = { ...stepContext([dialog], { supervise: 'last_assistant' }), renderer: context.renderer }
    expect(trained(await sft.buildBatch(last))).toEqual(['two.'])
  })

  it('shifts: each position is trained to predict the next token (PLG-10)', async () => {
    const { data } = await sft.buildBatch(stepContext([dialog]))
    const all = renderer.conversation(dialog.messages).tokens
    expect(data[0]?.tokens).toEqual(all.slice(0, -1))
    expect(data[0]?.lossInputs.target_tokens).toEqual({ data: all.slice(1), shape: [all.length - 1] })
  })

  it('cuts off the end of what is too long, and leaves out what then has no answer (PLG-10)', async () => {
    const context = stepContext([dialog, chat(say('user', 'a long question'), say('assistant', 'x'))], {
      max_seq_len: 9,
    })
    const batch = await sft.buildBatch(context)
    expect(trained(batch)).toEqual(['on'])
    expect(batch.metrics).toMatchObject({ 'data/rows': 1, 'data/dropped_rows': 1, 'data/truncated_rows': 1 })
    expect(context.logged).toEqual([
      { level: 'warn', text: 'sft: step 0 leaves out 1 of 2 rows without trainable tokens' },
    ])
  })

  it('takes batch_size rows (PLG-10)', async () => {
    expect((await sft.buildBatch(stepContext(new Array(9).fill(dialog), { batch_size: 3 }))).data).toHaveLength(3)
  })

  it('gives an empty batch, not an error, when a step has nothing to train on (PLG-10)', async () => {
    expect((await sft.buildBatch(stepContext([chat(say('user', 'q'))]))).data).toEqual([])
  })

  it('refuses data without a single token to train on (PLG-10)', async () => {
    const rows = [chat(say('user', 'q')), chat(say('system', 's'))]
    await expect(sft.setup?.(stepContext(rows))).rejects.toMatchObject({
      code: 'DATA_INVALID',
      message: 'sft: none of the 2 rows has an assistant token to train on',
    })
    await expect(sft.setup?.(stepContext([...rows, dialog]))).resolves.toBeUndefined()
  })

  it('reports the mean loss of a trained token (PLG-10)', async () => {
    const context = stepContext([dialog])
    const built = await sft.buildBatch(context)
    const result = { outputs: [], metrics: { 'loss:sum': 12 } }
    expect(sft.stepMetrics?.({ ...context, built, result })).toEqual({ train_mean_nll: 1.5 })
  })
})

describe('supervisedDatum', () => {
  it('has weights on exactly the produced tokens of trained messages within the limit (PLG-10)', () => {
    const token = fc.tuple(fc.nat(9), fc.integer({ min: -1, max: 3 }), fc.nat(1))
    fc.assert(
      fc.property(
        fc.array(token, { maxLength: 12 }),
        fc.integer({ min: 2, max: 14 }),
        fc.nat(3),
        (parts, maxTokens, only) => {
          const rendered = {
            tokens: Int32Array.from(parts, ([id]) => id),
            message: Int32Array.from(parts, ([, message]) => message),
            produced: Uint8Array.from(parts, ([, , produced]) => produced),
          }
          const made = supervisedDatum(rendered, { maxTokens, isTrained: (message) => message === only })
          const wanted = parts.map(
            ([, message, produced], at) => at > 0 && at < maxTokens && message === only && produced === 1,
          )
          const count = wanted.filter(Boolean).length
          expect(made?.supervised ?? 0).toBe(count)
          if (made === undefined) return
          expect([0, ...Array.from(made.datum.lossInputs.weights?.data ?? [])].map(Boolean)).toEqual(
            wanted.slice(0, maxTokens),
          )
        },
      ),
    )
  })
})

const of = (lengths: readonly number[], budget: number, seed = 1) =>
  createTokenBatches({ lengths, budget, random: (epoch) => keyedRandom(seed, 'batches', epoch) })

describe('batches by tokens', () => {
  it('hold every row with tokens once per epoch, within the budget unless a row alone is over it (PLG-20)', () => {
    const lengths = fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(
        lengths,
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 3 }),
        (tokens, budget, epochs) => {
          const batches = of(tokens, budget)
          const rows = Array.from({ length: batches.count(epochs) }, (_, i) => batches.rowsOf(i))
          for (const batch of rows) {
            const total = batch.reduce((sum, row) => sum + (tokens[row] ?? 0), 0)
            expect(batch.length === 1 || total <= budget).toBe(true)
          }
          const wanted = tokens.flatMap((length, row) =>
            length === 0 ? [] : Array.from({ length: epochs }, () => row),
          )
          expect(rows.flat().sort((a, b) => a - b)).toEqual(wanted)
        },
      ),
    )
  })

  it('follow from seed and number alone, and go on beyond the last epoch (PLG-20)', () => {
    const lengths = Array.from({ length: 30 }, (_, i) => (i % 7) + 1)
    const batches = of(lengths, 12)
    const late = batches.rowsOf(50)
    expect(late.length).toBeGreaterThan(0)
    expect(of(lengths, 12).rowsOf(50)).toEqual(late)
    const first = (seed: number) => Array.from({ length: 5 }, (_, i) => of(lengths, 12, seed).rowsOf(i))
    expect(first(1)).not.toEqual(first(2))
  })

  it('are empty where no row has tokens (PLG-20)', () => {
    expect(of([0, 0], 5).rowsOf(3)).toEqual([])
    expect(of([0, 0], 5).count(2)).toBe(0)
  })
})
