// What a teacher thinks of a training sequence. A teacher without a separate prompt sees exactly the tokens that the student saw. One
// with a prompt sees every turn's conversation written anew, with its system message and without declared tools, and then the tokens
// that the student drew.
import type { StepContext, Turn } from '../../contracts/index.ts'
import { mapConcurrent } from '../../kernel/index.ts'
import type { TrainingSequence } from '../sequences/merge-turns.ts'
import { likeliestInPlace, tokenLogprobs } from '../sequences/rollouts.ts'
import { type SoftTarget, softTarget } from './soft-targets.ts'
import { type TokenTeacher, withSystem } from './token-teacher.ts'

type Context = Pick<
  StepContext<{ max_context_length: number; n_concurrent: number }>,
  'service' | 'renderer' | 'params' | 'signal'
>

/** A teacher's likeliest tokens in one place. */
export interface Taught {
  readonly target: SoftTarget
  /** As the teacher gave them, in the order of `target`. */
  readonly logprobs: Float64Array
}

/** The sequence as far as a teacher can see it. */
export function shownSequence(
  sequence: TrainingSequence,
  most: number,
): { sequence: TrainingSequence; truncated: boolean } {
  const { tokens, mask, logprobs, spans } = sequence
  const room = most - 1 // a service scores a prompt while it draws one token more
  if (tokens.length <= room) return { sequence, truncated: false }
  const cut = spans.flatMap((span) => (span.start >= room ? [] : [{ ...span, end: Math.min(span.end, room) }]))
  const first = { tokens: tokens.slice(0, room), mask: mask.slice(0, room), logprobs: logprobs.slice(0, room) }
  return { sequence: { ...first, spans: cut }, truncated: true }
}

/** Log-probability of every trained token under the teacher; NaN elsewhere, and where the teacher could not see it. */
export async function taughtTokens(
  context: Context,
  teacher: TokenTeacher,
  sequence: TrainingSequence,
  turns: readonly Turn[],
): Promise<Float64Array> {
  const all = new Float64Array(sequence.tokens.length).fill(Number.NaN)
  for (const { start, end, prompt } of viewsOf(context, teacher, sequence, turns)) {
    const scores = await tokenLogprobs(context, teacher.weights, prompt)
    all.set(scores.subarray(prompt.length - (end - start)), start)
  }
  return all
}

/** The teacher's `k` likeliest tokens in the place of a token. */
export async function taughtPlaces(
  context: Context,
  teacher: TokenTeacher,
  sequence: TrainingSequence,
  turns: readonly Turn[],
  k: number,
): Promise<(at: number) => Taught | undefined> {
  const views = viewsOf(context, teacher, sequence, turns)
  const { signal, params } = context
  const scored = await mapConcurrent(views, { limit: params.n_concurrent, signal }, async (view) => ({
    ...view,
    scores: await likeliestInPlace(context, teacher.weights, view.prompt, k),
  }))
  return (at) => {
    const view = scored.find(({ start, end }) => at >= start && at < end)
    if (view === undefined) return undefined
    const row = view.prompt.length - (view.end - at)
    const target = softTarget(view.scores, row)
    if (target === undefined) return undefined
    return { target, logprobs: view.scores.logprobs.slice(row * k, row * k + target.tokens.length) }
  }
}

/** Prompts that end with the tokens from `start` to `end` of the sequence. */
function viewsOf(
  { renderer, params }: Context,
  { prompt: system }: TokenTeacher,
  { tokens, spans }: TrainingSequence,
  turns: readonly Turn[],
) {
  const last = spans.findLast(({ fault }) => fault === undefined)
  if (last === undefined) return []
  if (system === undefined) return [{ start: 0, end: last.end, prompt: tokens.slice(0, last.end) }]
  return spans.flatMap(({ start, end, turn, fault }) => {
    const messages = turns[turn]?.messages
    if (fault !== undefined || messages === undefined) return []
    const before = renderer.prompt(withSystem(system, messages))
    const room = Math.max(0, params.max_context_length - 1 - before.length)
    const shown = Math.min(end, start + room)
    if (shown === start) return []
    return [{ start, end: shown, prompt: Int32Array.of(...before, ...tokens.subarray(start, shown)) }]
  })
}
