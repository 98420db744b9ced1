// One example of a batch as people read it: its tokens in order, each with its text and its weight in the loss.
import type { Datum, TokenExample, Tokenizer } from '../../contracts/index.ts'

/** Tokens that are shown of an example. */
const most = 512

/** Position t predicts target t, so the sequence is the first input and then the targets, and a target has the weight of its position. */
export function tokenExample({ tokens, lossInputs }: Datum, tokenizer: Tokenizer): TokenExample {
  const targets = lossInputs.target_tokens?.data ?? tokens.subarray(1)
  const given = lossInputs.weights ?? lossInputs.mask ?? lossInputs.advantages
  const all = [...tokens.subarray(0, 1), ...Array.from(targets, Number)]
  const weights = [0, ...Array.from(targets, (_, at) => Number(given?.data[at] ?? 1))]
  const shown = all.slice(0, most)
  return {
    tokens: shown,
    text: shown.map((token) => tokenizer.decode(Int32Array.of(token))),
    weights: weights.slice(0, most).map((weight) => (Number.isFinite(weight) ? weight : 0)),
    length: all.length,
  }
}
