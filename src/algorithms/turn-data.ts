// The turns of an attempt as training data. A turn whose prompt begins with everything up to the end of the turn before goes on in the
// same sequence, so that a conversation of many turns is learned in one pass; one that does not begins a new sequence.
import type { Datum, TurnTokens } from '../contracts/index.ts'

/** Only the tokens that were drawn are trained on, exactly as they were drawn. */
export function turnData(turns: readonly TurnTokens[]): Datum[] {
  const sequences: { tokens: number[]; drawn: number[] }[] = []
  for (const { prompt, completion } of turns) {
    const last = sequences.at(-1)
    const goesOn =
      last !== undefined && last.tokens.length <= prompt.length && last.tokens.every((t, i) => t === prompt[i])
    const sequence = goesOn ? last : { tokens: [], drawn: [] }
    if (!goesOn) sequences.push(sequence)
    for (const token of prompt.subarray(sequence.tokens.length)) {
      sequence.tokens.push(token)
      sequence.drawn.push(0)
    }
    for (const token of completion) {
      sequence.tokens.push(token)
      sequence.drawn.push(1)
    }
  }
  return sequences.map(({ tokens, drawn }) => {
    const shape = [tokens.length - 1]
    return {
      tokens: Int32Array.from(tokens.slice(0, -1)),
      lossInputs: {
        target_tokens: { data: Int32Array.from(tokens.slice(1)), shape },
        weights: { data: Float32Array.from(drawn.slice(1)), shape },
      },
    }
  })
}
