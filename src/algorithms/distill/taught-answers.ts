// Answers of a teacher to the conversations of rows. A conversation is asked about once in a run, with draws that follow from its place
// in the data: a run that goes on gets the same answers again.
import type { ChatMessage, ChatMessagesRow } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { DistillContext } from './distill.ts'
import { rowExample, topkOf } from './row-example.ts'
import { likeliestInPlace } from './score-tokens.ts'
import { type SoftSequence, softSequence, softTarget } from './soft-targets.ts'
import type { TokenTeacher } from './token-teacher.ts'
import { withSystem } from './with-system.ts'

export interface TaughtAnswer {
  /** It was cut off before its end: what it would teach is not to end. */
  readonly isCut: boolean
  /** In tokens. */
  readonly length: number
  /** What the student trains on. */
  example(): Promise<SoftSequence | undefined>
}

/** The teacher's answers to a row, up to what its last assistant messages say. */
export async function answersOf(
  context: DistillContext,
  teacher: TokenTeacher | undefined,
  row: ChatMessagesRow,
): Promise<readonly TaughtAnswer[]> {
  const known = await context.once('distill/answers', async () => new Map<ChatMessagesRow, Promise<TaughtAnswer[]>>())
  const found = known.get(row)
  if (found !== undefined) return await found
  const places = await context.once('distill/places', async () => new Map(context.rows.map((each, at) => [each, at])))
  const question = row.messages.slice(0, row.messages.findLastIndex(({ role }) => role !== 'assistant') + 1)
  const asked = ask(context, teacher, question, places.get(row) ?? 0)
  known.set(row, asked)
  return await asked
}

async function ask(
  context: DistillContext,
  teacher: TokenTeacher | undefined,
  question: readonly ChatMessage[],
  place: number,
): Promise<TaughtAnswer[]> {
  if (question.length === 0) return []
  const { random, params } = context
  const seeds = Array.from({ length: params.num_samples }, (_, i) => random('distill', place, i).int(2 ** 32))
  if (teacher !== undefined) return await drawn(context, teacher, question, seeds[0] ?? 0)
  return await Promise.all(seeds.map((seed) => spoken(context, question, seed)))
}

// A model behind an API: words, which become tokens of the student.
async function spoken(context: DistillContext, question: readonly ChatMessage[], seed: number): Promise<TaughtAnswer> {
  const { others, params, signal } = context
  const { client } = params.teacher
  if (client === undefined) throw new TypeError('a teacher has weights or a client')
  const model = await others.client(client)
  const { max_tokens: maxTokens, temperature } = params
  const { text, stopReason, usage } = await model.generate({ messages: question, maxTokens, temperature, seed }, signal)
  return {
    isCut: stopReason !== 'stop' || text.trim() === '',
    length: usage.completionTokens,
    example: () =>
      rowExample(
        context,
        undefined,
        [...question, { role: 'assistant', content: text }],
        (at) => at === question.length,
      ),
  }
}

// Weights of the service: the very tokens that were drawn.
async function drawn(
  context: DistillContext,
  teacher: TokenTeacher,
  question: readonly ChatMessage[],
  seed: number,
): Promise<TaughtAnswer[]> {
  const { renderer, service, params } = context
  const shown = renderer.prompt(withSystem(teacher.prompt, question))
  const samples = await service.sample({
    ...{ model: teacher.weights, prompt: shown, numSamples: params.num_samples, stop: renderer.stop, seed },
    ...{ maxTokens: params.max_tokens, temperature: params.temperature },
  })
  const prompt = renderer.prompt(question)
  return samples.map(({ tokens, stopReason }) => ({
    isCut: stopReason !== 'stop',
    length: tokens.length,
    example: () => learnt(context, teacher, { prompt, shown, answer: tokens }),
  }))
}

async function learnt(
  context: DistillContext,
  teacher: TokenTeacher,
  { prompt, shown, answer }: Record<'prompt' | 'shown' | 'answer', Int32Array>,
): Promise<SoftSequence | undefined> {
  const { params } = context
  const room = params.max_seq_len - 1 - Math.max(prompt.length, shown.length)
  const kept = answer.slice(0, Math.max(0, room))
  const tokens = Int32Array.of(...prompt, ...kept)
  if (params.targets === 'text') {
    const hard = (at: number) =>
      at < prompt.length ? undefined : { tokens: Int32Array.of(tokens[at] ?? 0), probabilities: Float64Array.of(1) }
    return flat(softSequence(tokens, 1, hard))
  }
  if (kept.length === 0) return undefined
  const k = topkOf(context)
  const seen = Int32Array.of(...shown, ...kept)
  const scores = await likeliestInPlace(context, teacher.weights, seen, k)
  const from = shown.length - prompt.length
  return softSequence(tokens, k, (at) => (at < prompt.length ? undefined : softTarget(scores, at + from)))
}

// One target in each place is written as the protocol writes it: without a second axis.
function flat(sequence: SoftSequence | undefined): SoftSequence | undefined {
  if (sequence === undefined) return undefined
  const { tokens, lossInputs } = sequence.datum
  const { target_tokens, weights } = lossInputs
  if (target_tokens === undefined || weights === undefined)
    throw new EvsysError('INTERNAL', 'a sequence lacks its targets')
  const shape = [tokens.length]
  return {
    ...sequence,
    datum: {
      tokens,
      lossInputs: { target_tokens: { data: target_tokens.data, shape }, weights: { data: weights.data, shape } },
    },
  }
}
