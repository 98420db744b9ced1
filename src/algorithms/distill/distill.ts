// Off-policy distillation: the student learns answers that a teacher gave, as text or with the teacher's distribution in every place; or
// the teacher's distribution over answers that the rows hold.
import * as z from 'zod'
import {
  type ChatMessage,
  type ChatMessagesRow,
  type Rendered,
  type StepContext,
  TeacherSpec,
} from '../../contracts/index.ts'
import { defineAlgorithm, EvsysError, mapConcurrent, withoutUndefined } from '../../kernel/index.ts'
import { count, maxSeqLen, nonNegative, noRecipe, sharedParams, topTokens } from '../params/shared-params.ts'
import { supervisedDatum } from '../sequences/datums.ts'
import { likeliestInPlace, mean, meanNll, sumOf, tokensIn } from '../sequences/rollouts.ts'
import { type SoftSequence, softSequence, softTarget } from './soft-targets.ts'
import { type TokenTeacher, tokenTeacher, withSystem } from './token-teacher.ts'

const Params = z
  .strictObject({
    ...sharedParams,
    teacher: TeacherSpec.describe('Whom the student learns from.'),
    answers: z
      .enum(['teacher', 'rows'])
      .default('teacher')
      .describe(
        'Whose answers are trained on: those that the teacher gives to the conversations, or those of the rows.',
      ),
    targets: z
      .enum(['text', 'logits'])
      .default('text')
      .describe('`text`: the tokens of the answers; `logits`: the teacher’s likeliest tokens in every place of them.'),
    topk: topTokens
      .default(20)
      .describe('With `logits`: how many of the likeliest tokens, or `full` for the whole vocabulary.'),
    num_samples: count.max(1024).default(1).describe('Answers of the teacher to each conversation.'),
    max_tokens: count.default(256).describe('Longest answer of the teacher; one that is cut off is not trained on.'),
    temperature: nonNegative.default(0).describe('Of the teacher’s answers; 0 gives the same answer every time.'),
    max_seq_len: maxSeqLen,
    n_concurrent: count.default(8).describe('Questions to the teacher at a time.').meta(noRecipe),
  })
  .refine(({ answers, targets }) => answers === 'teacher' || targets === 'logits', {
    path: ['targets'],
    error: 'the text of rows needs no teacher: use algorithm.kind sft, or targets: logits',
  })
  .refine(({ num_samples, temperature }) => num_samples === 1 || temperature > 0, {
    path: ['temperature'],
    error: 'at temperature 0 all answers are the same: raise it, or ask for one',
  })
  .refine(({ teacher, targets }) => teacher.client === undefined || targets === 'text', {
    path: ['targets'],
    error: 'a teacher behind a client answers in text and gives no log-probabilities: use targets: text',
  })
type DistillContext = StepContext<z.output<typeof Params>, 'chat_messages'>

const asText = 'name it as teacher.client, such as { kind: local, params: { model: NAME } }, with targets: text.'

/** Trains on what a teacher says. */
export const distill = defineAlgorithm({
  kind: 'distill',
  summary:
    'Off-policy distillation: trains on a teacher’s answers, or on its distribution over the answers of the rows.',
  params: Params,
  rowFormat: 'chat_messages',
  async setup(context) {
    const { rows, params } = context
    if (params.teacher.client === undefined) await tokenTeacher(context, params.teacher, asText)
    const [wanted, what] =
      params.answers === 'rows' ? ['assistant', 'an answer to train on'] : ['user', 'a question to answer']
    if (rows.some(({ messages }) => messages.some(({ role }) => role === wanted))) return
    throw new EvsysError('DATA_INVALID', `distill: none of the ${rows.length} rows has ${what}`, {
      fix: 'give the rows messages: a question of the user, and for answers: rows an answer of the assistant.',
    })
  },
  async buildBatch(context) {
    const { batch, params, signal } = context
    const rows = batch(params.batch_size)
    const made = (
      await mapConcurrent(rows, { limit: params.n_concurrent, signal }, (row) => examplesOf(context, row))
    ).flat()
    const examples = made.flatMap(({ example }) => example ?? [])
    const data = examples.map(({ datum }) => datum)
    const supervised = sumOf(examples.map((each) => each.supervised))
    const answers = made.flatMap(({ answer }) => answer ?? [])
    const asked = answers.length === 0 ? undefined : answers
    return {
      data,
      loss: { name: 'cross_entropy' },
      metrics: withoutUndefined({
        'data/rows': rows.length,
        'data/sequences': data.length,
        'data/dropped_answers': made.length - data.length,
        'data/tokens': tokensIn(data),
        'data/supervised_tokens': supervised,
        'distill/teacher_entropy': sumOf(examples.map(({ entropy }) => entropy)) / Math.max(1, supervised),
        'teacher/answers:sum': asked?.length,
        'teacher/truncated:sum': asked?.filter(({ isCut }) => isCut).length,
        'teacher/length_mean': asked === undefined ? undefined : mean(asked.map(({ length }) => length)),
      }),
    }
  },
  stepMetrics(context) {
    const { train_mean_nll: nll } = meanNll(context)
    if (nll === undefined) return {}
    return { train_mean_nll: nll, 'distill/kl': nll - (context.built.metrics?.['distill/teacher_entropy'] ?? 0) }
  },
})

type Made = { answer?: TaughtAnswer | undefined; example: Awaited<ReturnType<typeof rowExample>> }

async function examplesOf(context: DistillContext, row: ChatMessagesRow): Promise<Made[]> {
  const { params } = context
  const teacher = params.teacher.client === undefined ? await tokenTeacher(context, params.teacher, asText) : undefined
  if (params.answers === 'rows') return [{ example: await rowExample(context, teacher, row.messages) }]
  const made: Made[] = []
  for (const answer of await answersOf(context, teacher, row)) {
    made.push({ answer, example: answer.isCut ? undefined : await answer.example() })
  }
  return made
}

// An answer of a teacher to the conversation of a row. A conversation is answered once in a run, with draws that follow from its place
// in the data: a resumed run gets the same answers again.
interface TaughtAnswer {
  /** It was cut off before its end: what it would teach is not to end. */
  readonly isCut: boolean
  /** In tokens. */
  readonly length: number
  /** What the student trains on. */
  example(): Promise<SoftSequence | undefined>
}

/** The teacher's answers to a row, up to what its last assistant messages say. */
async function answersOf(
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
    example: () => {
      const answered: ChatMessage[] = [...question, { role: 'assistant', content: text }]
      return rowExample(context, undefined, answered, (at) => at === question.length)
    },
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
    model: teacher.weights,
    prompt: shown,
    numSamples: params.num_samples,
    stop: renderer.stop,
    seed,
    maxTokens: params.max_tokens,
    temperature: params.temperature,
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
  const shape = [tokens.length]
  const flattened = Object.entries(lossInputs).map(([name, { data }]) => [name, { data, shape }])
  return { ...sequence, datum: { tokens, lossInputs: Object.fromEntries(flattened) } }
}

// A whole conversation as an example: its answers as they are written, or the teacher's distribution in every place of them.
/** `teacher` undefined, or targets of text: the answers themselves. Undefined where nothing is left to train on. */
async function rowExample(
  context: DistillContext,
  teacher: TokenTeacher | undefined,
  messages: readonly ChatMessage[],
  isTrained: (message: number) => boolean = () => true,
): Promise<SoftSequence | undefined> {
  const { renderer, params } = context
  const { max_seq_len: maxTokens } = params
  const rendered = renderer.conversation(messages)
  if (teacher === undefined || params.targets === 'text') {
    const made = supervisedDatum(rendered, { maxTokens, isTrained })
    return made === undefined ? undefined : { datum: made.datum, supervised: made.supervised, entropy: 0 }
  }
  const system = teacher.prompt
  const seen = system === undefined ? rendered : renderer.conversation(withSystem(system, messages))
  const places = answerPlaces(rendered, seen)
  const k = topkOf(context)
  const room = maxTokens - 1 // a service scores a prompt while it draws one token more
  const scores = await likeliestInPlace(context, teacher.weights, seen.tokens.slice(0, room), k)
  return softSequence(rendered.tokens.slice(0, room), k, (at) => {
    const place = isTrained(rendered.message[at] ?? -1) ? places.get(at) : undefined
    return place === undefined || place >= room ? undefined : softTarget(scores, place)
  })
}

/** How many targets a place has. */
function topkOf({ params, tokenizer }: DistillContext): number {
  return params.topk === 'full' ? tokenizer.vocabSize : params.topk
}

// The answers are the same tokens for both, wherever they stand: the first of one is the first of the other.
function answerPlaces(student: Rendered, teacher: Rendered): Map<number, number> {
  const [own, seen] = [producedOf(student), producedOf(teacher)]
  const isSame =
    own.length === seen.length && own.every((at, i) => student.tokens[at] === teacher.tokens[seen[i] ?? -1])
  if (isSame) return new Map(own.map((at, i) => [at, seen[i] ?? -1]))
  const message = 'distill: the answers of a row are written differently for a teacher with a prompt'
  const fix = 'name a renderer that writes an answer alike whatever comes before it.'
  throw new EvsysError('DATA_INVALID', message, { fix })
}

function producedOf({ produced }: Rendered): number[] {
  return [...produced].flatMap((each, at) => (each === 1 ? [at] : []))
}
