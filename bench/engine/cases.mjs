// What is measured: models, shapes and how much arithmetic each of them is. Knows nothing of who computes it.

/**
 * @typedef {{
 *   model_type: string, vocab_size: number, hidden_size: number, intermediate_size: number, num_hidden_layers: number,
 *   num_attention_heads: number, num_key_value_heads: number, max_position_embeddings: number, tie_word_embeddings: boolean,
 *   rms_norm_eps: number, rope_theta: number, eos_token_id: null, bos_token_id: null,
 * }} Config
 * @typedef {{ config: Config, dtype: 'F32' | 'BF16' }} Model
 * @typedef {{
 *   name: string, title: string, kind: 'train' | 'sample' | 'load', model: keyof typeof models, rounds: number,
 *   batch: number, length: number, rank?: number, prompt?: number,
 * }} Case length: tokens of a text, or tokens to draw
 */

const common = {
  ...{ model_type: 'llama', rms_norm_eps: 1e-6, rope_theta: 10_000, eos_token_id: null, bos_token_id: null },
  hidden_act: 'silu',
}

/** The first has 4.5 M parameters; the other 0.1 B, stored in half the bytes. @satisfies {Record<string, Model>} */
export const models = {
  small: {
    dtype: 'F32',
    config: {
      ...common,
      ...{ vocab_size: 2048, hidden_size: 256, intermediate_size: 768, num_hidden_layers: 4 },
      ...{ num_attention_heads: 4, num_key_value_heads: 4, max_position_embeddings: 2048, tie_word_embeddings: false },
    },
  },
  tenth: {
    dtype: 'BF16',
    config: {
      ...common,
      ...{ vocab_size: 32_000, hidden_size: 768, intermediate_size: 2048, num_hidden_layers: 12 },
      ...{ num_attention_heads: 12, num_key_value_heads: 4, max_position_embeddings: 2048, tie_word_embeddings: true },
    },
  },
}

/** @type {readonly Case[]} */
export const cases = [
  {
    ...{ name: 'step', title: 'training step, 16 x 128 tokens, all weights', kind: 'train', model: 'small' },
    ...{ rounds: 9, batch: 16, length: 128 },
  },
  {
    ...{ name: 'lora', title: 'the same, LoRA rank 16', kind: 'train', model: 'small' },
    ...{ rounds: 9, batch: 16, length: 128, rank: 16 },
  },
  {
    ...{ name: 'long', title: 'training step, 2 x 1024 tokens, all weights', kind: 'train', model: 'small' },
    ...{ rounds: 7, batch: 2, length: 1024 },
  },
  {
    ...{ name: 'tenth', title: '0.1 B parameters, LoRA rank 16, 4 x 128 tokens', kind: 'train', model: 'tenth' },
    ...{ rounds: 4, batch: 4, length: 128, rank: 16 },
  },
  {
    ...{ name: 'sample-1', title: '128 tokens drawn, batch 1', kind: 'sample', model: 'small' },
    ...{ rounds: 9, batch: 1, length: 128, prompt: 16 },
  },
  {
    ...{ name: 'sample-32', title: '128 tokens drawn, batch 32', kind: 'sample', model: 'small' },
    ...{ rounds: 7, batch: 32, length: 128, prompt: 16 },
  },
  {
    ...{ name: 'load', title: '0.1 B parameters, from the start of a process', kind: 'load', model: 'tenth' },
    ...{ rounds: 3, batch: 1, length: 1 },
  },
]

/** The same numbers for everybody. @param {Case} of @returns {{ inputs: number[][], targets: number[][] }} */
export function tokensOf({ model, batch, length, kind, prompt = 0 }) {
  const { vocab_size: vocab } = models[model].config
  const random = numbers(7)
  const rows = (/** @type {number} */ count, /** @type {number} */ width) =>
    Array.from({ length: count }, () => Array.from({ length: width }, () => Math.floor(random() * vocab)))
  if (kind === 'sample') return { inputs: rows(1, prompt), targets: [] }
  return { inputs: rows(batch, length), targets: rows(batch, length) }
}

/** Numbers from [0, 1) that are the same on every machine. @param {number} seed */
export function numbers(seed) {
  let state = Math.imul(seed, 0x9e3779b1) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

/**
 * 10^9 floating-point operations that a training step needs: products alone, and of attention only what causality leaves. What an
 * implementation computes twice to save memory does not count.
 * @param {Case} of
 */
export function gigaflops({ model, batch, length, rank }) {
  const config = models[model].config
  const { hidden_size: hidden, intermediate_size: inner, num_hidden_layers: layers, vocab_size: vocab } = config
  const keys = (hidden / config.num_attention_heads) * config.num_key_value_heads
  const shapes = [
    ...[hidden, keys, keys, hidden].map((outputs) => [outputs, hidden]),
    ...[inner, inner, inner].map((width) => [width, hidden]),
  ]
  const matrices = layers * shapes.reduce((sum, [a = 0, b = 0]) => sum + a * b, 0) + vocab * hidden
  const attention = layers * 2 * (length + 1) * hidden // forward, per token
  const tokens = batch * length
  if (rank === undefined) return (tokens * 3 * (2 * matrices + attention)) / 1e9
  const adapters = layers * shapes.reduce((sum, [a = 0, b = 0]) => sum + rank * (a + b), 0)
  const unused = (hidden + 2 * keys) * hidden // nobody asks for the gradient by the embedded tokens
  return (tokens * (2 * (2 * matrices - unused) + 3 * (2 * adapters + attention))) / 1e9
}
