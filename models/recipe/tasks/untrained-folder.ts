// A folder like that of a bundled model, with the weights that its training began with: normal ones from a seed, norms of one.
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeSafetensors, writeSafetensors } from '../../../src/engine/files/safetensors-file.ts'
import { keyedRandom } from '../../../src/kernel/index.ts'

const spread = 0.02

/** Writes the untrained twin of the model in `from` to `to`. */
export async function makeUntrainedFolder(from: string, to: string): Promise<void> {
  mkdirSync(to, { recursive: true })
  for (const file of ['config.json', 'generation_config.json', 'tokenizer.json', 'tokenizer_config.json'])
    copyFileSync(join(from, file), join(to, file))
  const { tensors } = decodeSafetensors(readFileSync(join(from, 'model.safetensors')), from)
  const layers = [...tensors.keys()].filter((name) => name.endsWith('input_layernorm.weight')).length
  const untrained = [...tensors].map(([name, tensor]) => {
    const random = keyedRandom(1, 'untrained', name)
    // What is added to the residual stream is smaller, as in torch/llama.py.
    const scale = /\.(?:o_proj|down_proj)\./.test(name) ? spread / Math.sqrt(2 * layers) : spread
    const data = tensor.data.map(() => (name.includes('norm') ? 1 : scale * random.normal()))
    return [name, { ...tensor, data }] as const
  })
  await writeSafetensors(join(to, 'model.safetensors'), new Map(untrained))
}
