// The weights in a model's folder: one `model.safetensors`, or several parts that an index names.
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import type { LoraSpec } from '../../contracts/index.ts'
import { fileError, systemCode } from '../../kernel/index.ts'
import { duplicateKey, invalidModel, readText } from './json-places.ts'
import { type ModelShape, tensorShapes } from './model-shape.ts'
import { openSafetensors, type SafetensorsFile, type TensorInfo } from './safetensors-file.ts'

export interface ModelWeights extends AsyncDisposable {
  readonly tensors: ReadonlyMap<string, TensorInfo>
  /** The file that holds a tensor, for errors. */
  fileOf(name: string): string
  read(name: string, signal: AbortSignal): Promise<Float64Array>
  /** The bytes of a tensor, as they lie in its file, into memory of that size. */
  readInto(name: string, target: Uint8Array, signal: AbortSignal): Promise<void>
}

const singleName = 'model.safetensors'
const indexName = 'model.safetensors.index.json'

/** Opens all files of a model's weights; values are read when they are asked for. */
export async function openModelWeights(folder: string): Promise<ModelWeights> {
  const single = join(folder, singleName)
  if (await exists(single)) return joined(new Map([[singleName, await openSafetensors(single)]]), folder)
  const index = join(folder, indexName)
  if (!(await exists(index))) {
    throw invalidModel(folder, `holds neither ${singleName} nor ${indexName}`, {
      fix: 'name a folder with the weights of a model in safetensors format.',
    })
  }
  const byTensor = parseIndex(await readText(index), index)
  const files = new Map<string, SafetensorsFile>()
  try {
    for (const name of [...new Set(byTensor.values())].sort())
      files.set(name, await openSafetensors(join(folder, name)))
    for (const [tensor, name] of byTensor) {
      if (!files.get(name)?.tensors.has(tensor))
        throw invalidModel(index, `${name} does not hold the tensor "${tensor}"`)
    }
    return joined(files, folder)
  } catch (cause) {
    await closeAll(files)
    throw cause
  }
}

function joined(files: ReadonlyMap<string, SafetensorsFile>, folder: string): ModelWeights {
  const tensors = new Map<string, TensorInfo>()
  const homes = new Map<string, string>()
  for (const [fileName, file] of files) {
    for (const [name, info] of file.tensors) {
      const other = homes.get(name)
      if (other !== undefined) throw invalidModel(join(folder, fileName), `the tensor "${name}" is in ${other} too`)
      homes.set(name, fileName)
      tensors.set(name, info)
    }
  }
  const home = (name: string) => {
    const file = files.get(homes.get(name) ?? '')
    if (file === undefined) throw invalidModel(folder, `there is no tensor "${name}"`)
    return file
  }
  return {
    tensors,
    fileOf: (name) => join(folder, homes.get(name) ?? singleName),
    read: async (name, signal) => home(name).read(name, signal),
    readInto: async (name, target, signal) => home(name).readInto(name, target, signal),
    [Symbol.asyncDispose]: () => closeAll(files),
  }
}

const Index = z.looseObject({ weight_map: z.record(z.string(), z.string()) })

function parseIndex(text: string, file: string): ReadonlyMap<string, string> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalidModel(file, 'is no JSON')
  }
  const duplicate = duplicateKey(text)
  if (duplicate !== undefined) throw invalidModel(file, `names "${duplicate.key}" twice`)
  const parsed = Index.safeParse(value)
  if (!parsed.success) throw invalidModel(file, 'has no weight_map of tensor to file')
  const map = new Map(Object.entries(parsed.data.weight_map))
  if (map.size === 0) throw invalidModel(file, 'names no tensor')
  for (const name of map.values()) {
    // A name with a path in it could lead out of the folder.
    if (!/^[\w.-]+\.safetensors$/.test(name)) throw invalidModel(file, `"${name}" is no name of a file beside it`)
  }
  return map
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return false
    throw fileError('read', path, cause)
  }
}

async function closeAll(files: ReadonlyMap<string, SafetensorsFile>): Promise<void> {
  for (const file of files.values()) await file[Symbol.asyncDispose]()
}

// The tensors of an adapter, by the names that PEFT gives them. A is `[rank, in]`, B is `[out, rank]`.
const attention = ['q_proj', 'k_proj', 'v_proj', 'o_proj']
const mlp = ['gate_proj', 'up_proj', 'down_proj']
const unembedding = ['lm_head']

/** The last parts of the names of all projections that an adapter trains. */
export function targetModules({ trainAttention, trainMlp, trainUnembedding }: LoraSpec): string[] {
  return [...(trainAttention ? attention : []), ...(trainMlp ? mlp : []), ...(trainUnembedding ? unembedding : [])]
}

/** Name of an adapter's matrix for a projection: `model.layers.0.mlp.up_proj`, `lm_head`. */
export function adapterName(projection: string, matrix: 'A' | 'B'): string {
  return `base_model.model.${projection}.lora_${matrix}.weight`
}

/** Shapes of all tensors of an adapter. */
export function adapterShapes(shape: ModelShape, lora: LoraSpec): ReadonlyMap<string, readonly number[]> {
  const targets = targetModules(lora)
  const all = new Map<string, readonly number[]>()
  // An adapter of the unembedding leaves a tied embedding as it is.
  for (const [name, [outputs = 0, inputs = 0]] of tensorShapes({ ...shape, tiedEmbeddings: false })) {
    const projection = name.replace(/\.weight$/, '')
    if (projection === name || !targets.includes(projection.split('.').at(-1) ?? '')) continue
    all.set(adapterName(projection, 'A'), [lora.rank, inputs])
    all.set(adapterName(projection, 'B'), [outputs, lora.rank])
  }
  return all
}
