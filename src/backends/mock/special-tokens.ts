// The tokens of mock models: one for each byte, then the special ones that frame a conversation.

const names = ['<|end|>', '<|system|>', '<|user|>', '<|assistant|>', '<|tool|>'] as const
export type SpecialName = (typeof names)[number]

const firstSpecial = 256

/** Special tokens by the name that stands for them in text. */
export const specialTokens = Object.freeze(
  Object.fromEntries(names.map((name, index) => [name, firstSpecial + index])) as Record<SpecialName, number>, // all names are keys
)

/** Name of a special token; undefined for a byte. */
export function specialName(token: number): SpecialName | undefined {
  return names[token - firstSpecial]
}

/** Bytes and special tokens, rounded up so that one can be added without invalidating checkpoints. */
export const mockVocabSize = 264
