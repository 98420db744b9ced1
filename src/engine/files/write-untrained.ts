// A model that nobody has trained: `config.json` and weights drawn from a seed, as the engines read them.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { keyedRandom, writeFileAtomic } from '../../kernel/index.ts'
import { parseModelConfig } from './model-config.ts'
import { tensorShapes } from './model-shape.ts'
import { type NamedTensor, writeSafetensors } from './safetensors-file.ts'

export interface UntrainedOptions {
  /** Root of all draws. */
  readonly seed: number
  /** Standard deviation of the weights. */
  readonly spread: number
}

/** Writes the model that a `config.json` describes; returns the number of its parameters. */
export async function writeUntrained(
  folder: string,
  config: Readonly<Record<string, unknown>>,
  { seed, spread }: UntrainedOptions,
): Promise<number> {
  const text = `${JSON.stringify(config, null, 2)}\n`
  const shape = parseModelConfig(text, join(folder, 'config.json'))
  const tensors = new Map<string, NamedTensor>()
  let parameters = 0
  for (const [name, axes] of tensorShapes(shape)) {
    const random = keyedRandom(seed, 'untrained', name)
    const data = new Float64Array(axes.reduce((product, axis) => product * axis, 1))
    // What is added to the residual stream is smaller, the more layers add to it.
    const scale = /\.(?:o_proj|down_proj)\./.test(name) ? spread / Math.sqrt(2 * shape.layers) : spread
    if (name.includes('norm')) data.fill(1)
    else if (!name.endsWith('.bias')) for (let i = 0; i < data.length; i++) data[i] = scale * random.normal()
    tensors.set(name, { shape: axes, data, dtype: 'F32' })
    parameters += data.length
  }
  await mkdir(folder, { recursive: true })
  await writeFileAtomic(join(folder, 'config.json'), text)
  await writeSafetensors(join(folder, 'model.safetensors'), tensors)
  return parameters
}
