// A teacher whose distribution over tokens is asked for. It has to write with the tokens of the student: a probability of token 17 says
// nothing to a model for which 17 is another piece of text.
import type { SetupContext, TeacherSpec, Tokenizer, Weights } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'

export interface TokenTeacher {
  readonly weights: Weights
  /** System message that the teacher sees and the student does not. */
  readonly prompt?: string
}

type Access = Pick<SetupContext<unknown>, 'others' | 'reference' | 'tokenizer'>

/** The weights of a teacher, or why its tokens are of no use. `asText`: what to do instead. */
export async function tokenTeacher(
  { others, reference, tokenizer }: Access,
  { checkpoint, base_model, prompt, client }: TeacherSpec,
  asText: string,
): Promise<TokenTeacher> {
  if (client !== undefined) {
    throw new EvsysError('PLUGIN_PARAMS', 'a teacher behind a client answers in text and gives no log-probabilities', {
      fix: asText,
    })
  }
  if (base_model !== undefined && !isSameVocabulary(tokenizer, await others.tokenizerOf(base_model))) {
    throw new EvsysError('PLUGIN_PARAMS', `the teacher ${base_model} has another vocabulary than the student`, {
      fix: asText,
    })
  }
  if (checkpoint !== undefined) return { weights: others.weights(checkpoint) }
  if (base_model !== undefined) return { weights: { baseModel: base_model } }
  return { weights: reference, ...(prompt === undefined ? {} : { prompt }) }
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
