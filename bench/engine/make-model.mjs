// A model with random weights in the files that everybody reads. Trained ones would not be computed any faster.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { models, numbers } from './cases.mjs'

/** Writes a model into a new folder. @param {keyof typeof models} name @param {string} folder */
export function makeModel(name, folder) {
  const { config, dtype } = models[name]
  mkdirSync(folder, { recursive: true })
  const architectures = ['LlamaForCausalLM']
  const torch_dtype = dtype === 'F32' ? 'float32' : 'bfloat16'
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, architectures, torch_dtype }, null, 2))
  const size = dtype === 'F32' ? 4 : 2
  let at = 0
  const entries = [...tensors(config)].map(([tensor, shape]) => {
    const begin = at
    at += size * shape.reduce((product, axis) => product * axis, 1)
    return [tensor, { dtype, shape, data_offsets: [begin, at] }]
  })
  const header = JSON.stringify({ __metadata__: { format: 'pt' }, ...Object.fromEntries(entries) })
  const json = Buffer.from(header.padEnd(Math.ceil(Buffer.byteLength(header) / 64) * 64 + 56))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(json.length))
  const random = numbers(1)
  const data = [...tensors(config)].map(([tensor, shape]) => {
    const values = new Float32Array(shape.reduce((product, axis) => product * axis, 1)).fill(1)
    // Uniform with the deviation that such models start with.
    if (!tensor.includes('norm')) for (let i = 0; i < values.length; i++) values[i] = (random() - 0.5) * 0.07
    if (dtype === 'F32') return Buffer.from(values.buffer)
    return Buffer.from(Uint16Array.from(new Uint32Array(values.buffer), (bits) => bits >>> 16).buffer)
  })
  writeFileSync(join(folder, 'model.safetensors'), Buffer.concat([length, json, ...data]))
}

/** @param {import('./cases.mjs').Config} config @returns {Map<string, number[]>} */
function tensors(config) {
  const { hidden_size: hidden, intermediate_size: inner, vocab_size: vocab } = config
  const keys = (hidden / config.num_attention_heads) * config.num_key_value_heads
  const all = new Map([['model.embed_tokens.weight', [vocab, hidden]]])
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const at = `model.layers.${layer}`
    all.set(`${at}.input_layernorm.weight`, [hidden])
    all.set(`${at}.self_attn.q_proj.weight`, [hidden, hidden])
    all.set(`${at}.self_attn.k_proj.weight`, [keys, hidden])
    all.set(`${at}.self_attn.v_proj.weight`, [keys, hidden])
    all.set(`${at}.self_attn.o_proj.weight`, [hidden, hidden])
    all.set(`${at}.post_attention_layernorm.weight`, [hidden])
    all.set(`${at}.mlp.gate_proj.weight`, [inner, hidden])
    all.set(`${at}.mlp.up_proj.weight`, [inner, hidden])
    all.set(`${at}.mlp.down_proj.weight`, [hidden, inner])
  }
  all.set('model.norm.weight', [hidden])
  if (!config.tie_word_embeddings) all.set('lm_head.weight', [vocab, hidden])
  return all
}
