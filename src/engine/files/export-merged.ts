// A checkpoint and its base as one model: the adapter is added to the weights, W + scale B A, and the folder is one that any
// program loads which loads the base.
import { copyFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { writeFileAtomic } from '../../kernel/index.ts'
import { loraAlpha } from '../lora-spec.ts'
import { type Checkpoint, decodeCheckpoint } from './checkpoint.ts'
import { createFolder } from './create-folder.ts'
import { isFloatType } from './float-codec.ts'
import { invalidModel } from './invalid-model.ts'
import { adapterName } from './lora-tensors.ts'
import { parseModelConfig } from './model-config.ts'
import { type ModelShape, tensorShapes } from './model-shape.ts'
import { type ModelWeights, openModelWeights } from './model-weights.ts'
import { readText } from './read-text.ts'
import { type NamedTensor, writeSafetensors } from './safetensors-bytes.ts'

export type ExportMergedOptions = {
  checkpoint: Uint8Array
  /** Of the base model that the checkpoint was trained on. */
  baseFolder: string
  /** Must not exist. */
  folder: string
  signal: AbortSignal
}

const embedding = 'model.embed_tokens.weight'
const unembedding = 'lm_head.weight'

/** Writes a whole model into a new folder, each tensor in the type that it has in the base. */
export async function exportMerged({
  checkpoint: bytes,
  baseFolder,
  folder,
  signal,
}: ExportMergedOptions): Promise<void> {
  const checkpoint = decodeCheckpoint(bytes)
  const configFile = join(baseFolder, 'config.json')
  const configText = await readText(configFile)
  const base = parseModelConfig(configText, configFile)
  // A trained unembedding is no longer the embedding.
  const unties = base.tiedEmbeddings && checkpoint.weights.has(adapterName('lm_head', 'A'))
  const shape = { ...base, tiedEmbeddings: base.tiedEmbeddings && !unties }
  await using weights = await openModelWeights(baseFolder)
  const tensors = await mergedTensors(checkpoint, shape, weights, signal)
  const config = {
    ...z.record(z.string(), z.unknown()).parse(JSON.parse(configText)),
    ...(unties ? { tie_word_embeddings: false } : {}),
  }
  await createFolder(folder, async (path) => {
    await writeSafetensors(join(path, 'model.safetensors'), tensors)
    await copyCompanions(baseFolder, path)
    await writeFileAtomic(join(path, 'config.json'), `${JSON.stringify(config, null, 2)}\n`)
  })
}

async function mergedTensors(
  checkpoint: Checkpoint,
  shape: ModelShape,
  weights: ModelWeights,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, NamedTensor>> {
  const tensors = new Map<string, NamedTensor>()
  for (const [name, axes] of tensorShapes(shape)) {
    const source = name === unembedding && !weights.tensors.has(name) ? embedding : name
    const info = weights.tensors.get(source)
    if (info === undefined || info.shape.join() !== axes.join() || !isFloatType(info.dtype)) {
      throw invalidModel(
        weights.fileOf(source),
        `does not hold the tensor "${source}" of the shape [${axes.join(', ')}]`,
      )
    }
    const trained = checkpoint.lora === undefined ? checkpoint.weights.get(name)?.data : undefined
    const data = trained ?? (await weights.read(source, signal))
    if (data.length !== axes.reduce((product, axis) => product * axis, 1)) {
      throw invalidModel(weights.fileOf(source), `the checkpoint’s "${name}" has another size than the base’s`)
    }
    addAdapter(checkpoint, name, data, axes)
    tensors.set(name, { dtype: info.dtype, shape: axes, data })
  }
  return tensors
}

// W[o, i] += scale * sum over r of B[o, r] A[r, i].
function addAdapter(
  checkpoint: Checkpoint,
  name: string,
  w_OI: Float64Array,
  [outer = 0, inner = 0]: readonly number[],
) {
  const projection = name.replace(/\.weight$/, '')
  const a_RI = checkpoint.weights.get(adapterName(projection, 'A'))?.data
  const b_OR = checkpoint.weights.get(adapterName(projection, 'B'))?.data
  if (checkpoint.lora === undefined || a_RI === undefined || b_OR === undefined) return
  const { rank } = checkpoint.lora
  if (a_RI.length !== rank * inner || b_OR.length !== outer * rank) {
    throw invalidModel('checkpoint', `its adapter of "${projection}" does not fit the base model`)
  }
  const scale = (checkpoint.alpha ?? loraAlpha) / rank
  for (let o = 0; o < outer; o++) {
    for (let r = 0; r < rank; r++) {
      const factor = scale * (b_OR[o * rank + r] ?? 0)
      for (let i = 0; i < inner; i++) {
        w_OI[o * inner + i] = (w_OI[o * inner + i] ?? 0) + factor * (a_RI[r * inner + i] ?? 0)
      }
    }
  }
}

// The tokenizer, the chat template and their like; not the weights.
async function copyCompanions(from: string, to: string): Promise<void> {
  for (const name of await readdir(from)) {
    const isCompanion = /\.(json|jinja|txt|model)$/.test(name) && !/(^config\.json|\.index\.json)$/.test(name)
    if (!isCompanion || !(await stat(join(from, name))).isFile()) continue // links are followed, as a hub's cache has them
    await copyFile(join(from, name), join(to, name))
  }
}
