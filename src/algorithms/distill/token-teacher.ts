// A teacher whose distribution over tokens is asked for. It has to write with the tokens of the student: a probability of token 17 says
// nothing to a model for which 17 is another piece of text.
import type {
  ChatMessage,
  SetupContext,
  StepContext,
  TeacherSpec,
  Tokenizer,
  TopKLogprobs,
  Weights,
} from '../../contracts/index.ts'
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

// What weights think of given tokens: the log-probability of each, or the likeliest tokens in its place.
type Service = Pick<StepContext<unknown>, 'service'>

// A service scores a prompt while it samples; one token is the least that it draws.
const asked = { numSamples: 1, maxTokens: 1, temperature: 0, seed: 0 }

/** Per token; NaN for the first, which nothing predicts. */
export async function tokenLogprobs({ service }: Service, model: Weights, prompt: Int32Array): Promise<Float64Array> {
  const [sample] = await service.sample({ model, prompt, ...asked, promptLogprobs: true })
  return sample?.promptLogprobs ?? missing('prompt_logprobs')
}

/** The `k` likeliest tokens in the place of each token. */
export async function likeliestInPlace(
  { service }: Service,
  model: Weights,
  prompt: Int32Array,
  k: number,
): Promise<TopKLogprobs> {
  const [sample] = await service.sample({ model, prompt, ...asked, topKPromptLogprobs: k })
  return sample?.topKPromptLogprobs ?? missing('topk_prompt_logprobs')
}

function missing(field: string): never {
  throw new EvsysError('BACKEND_FAILED', 'the service gives no log-probabilities of a prompt', {
    fix: `use a service with ${field}, such as the backend local.`,
  })
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
