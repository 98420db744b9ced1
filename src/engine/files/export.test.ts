import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { type tinyConfigs, writeTinyModel } from '../../../tests/tiny-model.ts'
import type { Datum, Engine, LoraSpec } from '../../contracts/index.ts'
import { createReferenceEngine } from '../reference/reference-engine.ts'
import { decodeCheckpoint } from './checkpoint.ts'
import { exportAdapter, exportMerged } from './export-model.ts'
import { decodeSafetensors } from './safetensors-file.ts'

const folder = temporaryFolders()
const signal = new AbortController().signal
const lora: LoraSpec = { rank: 2, seed: 1, trainAttention: true, trainMlp: true, trainUnembedding: true }
const loss = { name: 'cross_entropy' }
const adam = { learningRate: 0.01, beta1: 0.9, beta2: 0.95, eps: 1e-12 }
const datum: Datum = {
  tokens: Int32Array.from([1, 2, 3, 4]),
  lossInputs: {
    target_tokens: { data: Int32Array.from([2, 3, 4, 5]), shape: [4] },
    weights: { data: Float32Array.from([1, 1, 1, 1]), shape: [4] },
  },
}

async function logprobs(engine: Engine): Promise<number[]> {
  const result = await engine.run({ op: 'forward', model: 'm', data: [datum], loss }, signal)
  return 'fwdBwd' in result ? [...(result.fwdBwd.outputs[0]?.logprobs?.data ?? [])] : expect.fail('no pass')
}

/** A folder of a base model, a trained checkpoint over it, and what the trained model says. */
async function trained(family: keyof typeof tinyConfigs, spec?: LoraSpec) {
  const baseFolder = writeTinyModel(folder(), family)
  await using engine = createReferenceEngine({ resolve: async () => ({ folder: baseFolder }) })
  await engine.run(
    { op: 'create', model: 'm', baseModel: 'base/model', ...(spec === undefined ? {} : { lora: spec }) },
    signal,
  )
  for (let i = 0; i < 5; i++) {
    await engine.run({ op: 'forward_backward', model: 'm', data: [datum], loss }, signal)
    await engine.run({ op: 'optim_step', model: 'm', adam }, signal)
  }
  const result = await engine.run({ op: 'export_state', model: 'm' }, signal)
  return {
    baseFolder,
    checkpoint: 'bytes' in result ? result.bytes : expect.fail('no bytes'),
    expected: await logprobs(engine),
  }
}

describe('exportAdapter', () => {
  it('writes what PEFT loads: its names, its config, float32 values (ENG-12)', async () => {
    const { checkpoint } = await trained('qwen3', lora)
    const path = join(folder(), 'deep', 'adapter')
    await exportAdapter(checkpoint, path)
    expect(readdirSync(path).sort()).toEqual(['adapter_config.json', 'adapter_model.safetensors'])
    expect(JSON.parse(readFileSync(join(path, 'adapter_config.json'), 'utf8'))).toMatchObject({
      peft_type: 'LORA',
      task_type: 'CAUSAL_LM',
      base_model_name_or_path: 'base/model',
      r: 2,
      lora_alpha: 32,
      target_modules: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj', 'lm_head'],
    })
    const { tensors, metadata } = decodeSafetensors(readFileSync(join(path, 'adapter_model.safetensors')), path)
    expect(metadata.get('format')).toBe('pt')
    const { weights } = decodeCheckpoint(checkpoint)
    expect([...tensors.keys()]).toEqual([...weights.keys()].sort())
    for (const [name, { data, dtype, shape }] of tensors) {
      expect(dtype).toBe('F32')
      expect(shape).toEqual(weights.get(name)?.shape)
      expect(data).toEqual(weights.get(name)?.data.map(Math.fround))
    }
    expect(statSync(path).mode & 0o777).toBe(0o777 & ~process.umask())
  })

  it('refuses a model that was trained whole, and a folder that exists (ENG-12)', async () => {
    const whole = await trained('llama')
    await expect(exportAdapter(whole.checkpoint, join(folder(), 'x'))).rejects.toMatchObject({
      code: 'BACKEND_REFUSED',
    })
    const { checkpoint } = await trained('llama', lora)
    const existing = folder()
    await expect(exportAdapter(checkpoint, existing)).rejects.toMatchObject({ code: 'FILE_FAILED' })
    expect(readdirSync(existing)).toEqual([])
    await expect(exportAdapter(checkpoint.subarray(9), join(folder(), 'x'))).rejects.toMatchObject({
      code: 'BACKEND_REFUSED',
    })
  })
})

describe('exportMerged', () => {
  it.each<[string, keyof typeof tinyConfigs, LoraSpec | undefined]>([
    ['an adapter', 'llama', lora],
    ['an adapter over a tied embedding, which it unties', 'qwen2', lora],
    ['an adapter that leaves a tied unembedding alone', 'qwen2', { ...lora, trainUnembedding: false }],
    ['a whole model', 'qwen3', undefined],
  ])('makes a model of its own that says the same: %s (ENG-12)', async (_what, family, spec) => {
    const { baseFolder, checkpoint, expected } = await trained(family, spec)
    writeFileSync(join(baseFolder, 'tokenizer.json'), '{}')
    const merged = join(folder(), 'merged')
    await exportMerged({ checkpoint, baseFolder, folder: merged, signal })
    expect(readdirSync(merged).sort()).toEqual(['config.json', 'model.safetensors', 'tokenizer.json'])
    await using engine = createReferenceEngine({ resolve: async () => ({ folder: merged }) })
    await engine.run({ op: 'create', model: 'm', baseModel: 'merged' }, signal)
    const found = await logprobs(engine)
    for (const [i, value] of expected.entries()) expect(found[i]).toBeCloseTo(value, 4) // weights are float32 in the file
  })

  it('leaves nothing behind when it fails (ENG-12)', async () => {
    const { checkpoint } = await trained('llama', lora)
    const place = folder()
    const options = { checkpoint, folder: join(place, 'merged'), signal }
    await expect(
      exportMerged({ ...options, baseFolder: writeTinyModel(folder(), 'qwen3', { hidden_size: 16 }) }),
    ).rejects.toMatchObject({ code: 'MODEL_INVALID' })
    await expect(exportMerged({ ...options, baseFolder: folder() })).rejects.toMatchObject({ code: 'FILE_FAILED' })
    expect(readdirSync(place)).toEqual([])
  })
})
