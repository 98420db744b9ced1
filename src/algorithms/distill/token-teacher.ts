// A teacher whose distribution over tokens is needed. It has to write with the tokens of the student: a probability of token 17 says
// nothing to a model for which 17 is another piece of text.
import type { ChatMessage, SetupContext, TeacherSpec, Tokenizer, Weights } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'

export interface TokenTeacher {
  readonly weights: Weights
  /** System message that the teacher sees and the student does not. */
  readonly prompt?: string | undefined
}

type Access = Pick<SetupContext<unknown>, 'others' | 'reference' | 'tokenizer'>

/** The weights of a teacher, or why its tokens are of no use. `asText`: what to do instead. */
export async function tokenTeacher(
  { others, reference, tokenizer }: Access,
  { checkpoint, base_model, prompt, client }: TeacherSpec,
  asText: string,
): Promise<TokenTeacher> {
  const refused = (why: string) => new EvsysError('PLUGIN_PARAMS', why, { fix: asText })
  if (client !== undefined) throw refused('a teacher behind a client answers in text and gives no log-probabilities')
  if (base_model !== undefined && !isSameVocabulary(tokenizer, await others.tokenizerOf(base_model))) {
    throw refused(`the teacher ${base_model} has another vocabulary than the student`)
  }
  if (checkpoint !== undefined) return { weights: others.weights(checkpoint) }
  if (base_model !== undefined) return { weights: { baseModel: base_model } }
  return { weights: reference, prompt }
}

// Cut differently by tokenizers of any two families: words, digits, spaces, other scripts.
const probe = 'The answer is 31415; naïve café — 自然言語\n\n\tfor (let i = 0; i < 10; i++) {}'

/** Whether two tokenizers name the same pieces of text by the same numbers, and cut text alike. */
export function isSameVocabulary(a: Tokenizer, b: Tokenizer): boolean {
  if (a === b) return true
  if (a.vocabSize !== b.vocabSize || a.encode(probe).join() !== b.encode(probe).join()) return false
  for (let token = 0; token < a.vocabSize; token++) {
    if (pieceOf(a, token) !== pieceOf(b, token)) return false
  }
  return true
}

function pieceOf(tokenizer: Tokenizer, token: number): string | undefined {
  try {
    return tokenizer.decode(Int32Array.of(token))
  } catch {
    return undefined // a gap in the vocabulary
  }
}

/** The conversation with a system message ahead of its own. */
export function withSystem(prompt: string | undefined, messages: readonly ChatMessage[]): readonly ChatMessage[] {
  if (prompt === undefined) return messages
  const [first, ...rest] = messages
  if (first?.role !== 'system' || typeof first.content !== 'string') {
    return [{ role: 'system', content: prompt }, ...messages]
  }
  return [{ ...first, content: `${prompt}\n\n${first.content}` }, ...rest]
}
