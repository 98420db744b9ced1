// Folders of models that other programs load: a checkpoint's adapter as PEFT, vLLM and their like read it, a checkpoint merged into its
// base, a model with untrained weights.
import { access, chmod, copyFile, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import * as z from 'zod'
import type { LoraSpec } from '../../contracts/index.ts'
import { EvsysError, fileError, keyedRandom, syncFolder, systemCode, writeFileAtomic } from '../../kernel/index.ts'
import { refused } from '../refused.ts'
import { type Checkpoint, decodeCheckpoint } from './checkpoint.ts'
import { isFloatType } from './float-codec.ts'
import { invalidModel, readText } from './json-places.ts'
import { parseModelConfig } from './model-config.ts'
import { type ModelShape, sizeOf, tensorShapes } from './model-shape.ts'
import { loraAlpha } from './model-spec.ts'
import { adapterName, type ModelWeights, openModelWeights, targetModules } from './model-weights.ts'
import { type NamedTensor, writeSafetensors } from './safetensors-file.ts'

/** Writes `adapter_config.json` and `adapter_model.safetensors` into a new folder. Values are rounded to float32. */
export async function exportAdapter(checkpoint: Uint8Array, folder: string): Promise<void> {
  const { baseModel, lora, alpha = loraAlpha, weights } = decodeCheckpoint(checkpoint)
  if (lora === undefined) {
    throw refused('the checkpoint is of a model that was trained whole: it has no adapter', 'export it merged.')
  }
  await createFolder(folder, async (path) => {
    const config = JSON.stringify(adapterConfig(baseModel, lora, alpha), null, 2)
    await writeFileAtomic(join(path, 'adapter_config.json'), `${config}\n`)
    const tensors = [...weights].map(([name, tensor]) => [name, { ...tensor, dtype: 'F32' }] as const)
    await writeSafetensors(join(path, 'adapter_model.safetensors'), new Map(tensors))
  })
}

function adapterConfig(baseModel: string, lora: LoraSpec, alpha: number) {
  return {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: baseModel,
    r: lora.rank,
    lora_alpha: alpha,
    lora_dropout: 0,
    target_modules: targetModules(lora),
    bias: 'none',
    fan_in_fan_out: false,
    init_lora_weights: true,
    inference_mode: true,
    modules_to_save: null,
    use_rslora: false,
  }
}

// A checkpoint and its base as one model: the adapter is added to the weights, W + scale B A, and the folder is one that any
// program loads which loads the base.
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
export async function exportMerged(options: ExportMergedOptions): Promise<void> {
  const { baseFolder, folder, signal } = options
  const checkpoint = decodeCheckpoint(options.checkpoint)
  const configFile = join(baseFolder, 'config.json')
  const configText = await readText(configFile)
  const base = parseModelConfig(configText, configFile)
  // A trained unembedding is no longer the embedding.
  const unties = base.tiedEmbeddings && checkpoint.weights.has(adapterName('lm_head', 'A'))
  const shape = { ...base, tiedEmbeddings: base.tiedEmbeddings && !unties }
  await using weights = await openModelWeights(baseFolder)
  const tensors = await mergedTensors(checkpoint, shape, weights, signal)
  const config = z.record(z.string(), z.unknown()).parse(JSON.parse(configText))
  if (unties) config.tie_word_embeddings = false
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
      const wanted = `"${source}" of the shape [${axes.join(', ')}]`
      throw invalidModel(weights.fileOf(source), `does not hold the tensor ${wanted}`)
    }
    const trained = checkpoint.lora === undefined ? checkpoint.weights.get(name)?.data : undefined
    const data = trained ?? (await weights.read(source, signal))
    if (data.length !== sizeOf(axes)) {
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

// A folder that comes into being as a whole: it is filled under another name beside its place and renamed when it is complete.
/** Makes the folder at `path` with what `fill` writes into it. It must not exist; folders above it are made. */
async function createFolder(path: string, fill: (folder: string) => Promise<void>): Promise<void> {
  const target = resolve(path)
  try {
    await mkdir(dirname(target), { recursive: true })
    await refuseExisting(target)
    const temporary = await mkdtemp(join(dirname(target), '.evsys-export-'))
    try {
      await fill(temporary)
      await chmod(temporary, 0o777 & ~process.umask()) // what mkdir would have given it
      await syncFolder(temporary)
      await rename(temporary, target)
    } catch (cause) {
      await rm(temporary, { recursive: true, force: true })
      throw cause
    }
    await syncFolder(dirname(target))
  } catch (cause) {
    throw EvsysError.is(cause) ? cause : fileError('write', path, cause)
  }
}

// Renaming over an empty folder would succeed.
async function refuseExisting(path: string): Promise<void> {
  try {
    await access(path)
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return
    throw cause
  }
  throw fileError('write', path, Object.assign(new Error(), { code: 'EEXIST' }))
}

/** Seed of all draws, and standard deviation of the weights. */
export type UntrainedOptions = { readonly seed: number; readonly spread: number }

/** Writes the model that a `config.json` describes, with weights drawn from a seed; returns the number of its parameters. */
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
    const data = new Float64Array(sizeOf(axes))
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
