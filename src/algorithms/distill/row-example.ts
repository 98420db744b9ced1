// A whole conversation as an example: its answers as they are written, or the teacher's distribution in every place of them.
import type { ChatMessage, Rendered } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { supervisedDatum } from '../supervised-datum.ts'
import type { DistillContext } from './distill.ts'
import { likeliestInPlace } from './score-tokens.ts'
import { type SoftSequence, softSequence, softTarget } from './soft-targets.ts'
import type { TokenTeacher } from './token-teacher.ts'
import { withSystem } from './with-system.ts'

/** `teacher` undefined, or targets of text: the answers themselves. Undefined where nothing is left to train on. */
export async function rowExample(
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
export function topkOf({ params, tokenizer }: DistillContext): number {
  return params.topk === 'full' ? tokenizer.vocabSize : params.topk
}

// The answers are the same tokens for both, wherever they stand: the first of one is the first of the other.
function answerPlaces(student: Rendered, teacher: Rendered): Map<number, number> {
  const [own, seen] = [producedOf(student), producedOf(teacher)]
  const isSame =
    own.length === seen.length && own.every((at, i) => student.tokens[at] === teacher.tokens[seen[i] ?? -1])
  if (isSame) return new Map(own.map((at, i) => [at, seen[i] ?? -1]))
  throw new EvsysError(
    'DATA_INVALID',
    'distill: the answers of a row are written differently for a teacher with a prompt',
    {
      fix: 'name a renderer that writes an answer alike whatever comes before it.',
    },
  )
}

function producedOf({ produced }: Rendered): number[] {
  return [...produced].flatMap((each, at) => (each === 1 ? [at] : []))
}
