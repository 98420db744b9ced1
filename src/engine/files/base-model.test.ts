import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { tinyConfig, writeTinyModel } from '../../../tests/tiny-model.ts'
import { loadBaseModel } from './base-model.ts'
import { decodeSafetensors, encodeSafetensors, type NamedTensor } from './safetensors-file.ts'

const folder = temporaryFolders()
const signal = new AbortController().signal
const load = (path: string) => loadBaseModel(path, { maxParameters: 1e6, signal })
const index = 'model.safetensors.index.json'

/** Rewrites the tensors of a folder's single file. */
function edit(path: string, change: (tensors: Map<string, NamedTensor>) => void): string {
  const file = join(path, 'model.safetensors')
  const tensors = new Map(decodeSafetensors(readFileSync(file), file).tensors)
  change(tensors)
  writeFileSync(file, encodeSafetensors(tensors))
  return path
}

/** Splits a folder's single file into two that an index names. */
function shard(path: string, change: (map: Record<string, string>) => void = () => {}): string {
  const file = join(path, 'model.safetensors')
  const tensors = [...decodeSafetensors(readFileSync(file), file).tensors]
  rmSync(file)
  const parts = [tensors.slice(0, 5), tensors.slice(5)]
  const map: Record<string, string> = {}
  for (const [i, part] of parts.entries()) {
    const name = `model-0000${i + 1}-of-00002.safetensors`
    writeFileSync(join(path, name), encodeSafetensors(new Map(part)))
    for (const [tensor] of part) map[tensor] = name
  }
  change(map)
  writeFileSync(join(path, index), JSON.stringify({ metadata: { total_size: 1 }, weight_map: map }))
  return path
}

describe('a base model', () => {
  it('is the same from one file and from several (ENG-1)', async () => {
    const whole = await load(writeTinyModel(folder(), 'qwen2'))
    const parts = await load(shard(writeTinyModel(folder(), 'qwen2')))
    expect(parts).toEqual(whole)
    expect(whole.tensors.size).toBe(2 + 2 * 12)
  })

  it('may hold a second copy of a tied embedding, and old rotations (ENG-1)', async () => {
    const path = edit(writeTinyModel(folder(), 'qwen2'), (tensors) => {
      const embedding = tensors.get('model.embed_tokens.weight') ?? expect.fail('no embedding')
      tensors.set('lm_head.weight', embedding)
      tensors.set('model.layers.0.self_attn.rotary_emb.inv_freq', {
        dtype: 'F32',
        shape: [2],
        data: new Float64Array(2),
      })
    })
    expect((await load(path)).tensors.has('lm_head.weight')).toBe(false)
  })

  const norm = 'model.norm.weight'
  const two: NamedTensor = { dtype: 'F32', shape: [2], data: new Float64Array(2) }
  it.each<[string, (path: string) => string, RegExp]>([
    ['a tensor is missing', (path) => edit(path, (all) => all.delete(norm)), /lack the tensor "model.norm.weight"/],
    [
      'a tensor has another shape',
      (path) => edit(path, (all) => all.set(norm, two)),
      /has the shape \[2\], the config says \[8\]/,
    ],
    [
      'a tensor has no place',
      (path) => edit(path, (all) => all.set('model.layers.2.mlp.x', two)),
      /no place for the tensor "model.layers.2.mlp.x"/,
    ],
    ['a value is not finite', (path) => edit(path, (all) => all.get(norm)?.data.fill(Number.NaN)), /not finite/],
    [
      'the weights are gone',
      (path) => {
        rmSync(join(path, 'model.safetensors'))
        return path
      },
      /holds neither model.safetensors nor/,
    ],
    [
      'the index names a file that lacks the tensor',
      (path) =>
        shard(path, (map) => {
          map[norm] = 'model-00001-of-00002.safetensors'
        }),
      /does not hold the tensor "model.norm.weight"/,
    ],
    [
      'the index leads out of the folder',
      (path) =>
        shard(path, (map) => {
          map[norm] = '../model.safetensors'
        }),
      /no name of a file beside it/,
    ],
    [
      'the index names nothing',
      (path) =>
        shard(path, (map) => {
          for (const key of Object.keys(map)) delete map[key]
        }),
      /names no tensor/,
    ],
    [
      'the index is no JSON',
      (path) => {
        writeFileSync(join(shard(path), index), '{')
        return path
      },
      /is no JSON/,
    ],
    [
      'the index is of another form',
      (path) => {
        writeFileSync(join(shard(path), index), '{"weight_map":[1]}')
        return path
      },
      /no weight_map/,
    ],
    [
      'the index names a tensor twice',
      (path) => {
        writeFileSync(join(shard(path), index), '{"weight_map":{"a":"x.safetensors","a":"x.safetensors"}}')
        return path
      },
      /names "a" twice/,
    ],
  ])('is refused when %s (ENG-1)', async (_what, damage, message) => {
    await expect(load(damage(writeTinyModel(folder(), 'llama')))).rejects.toMatchObject({
      code: 'MODEL_INVALID',
      message: expect.stringMatching(message),
    })
  })

  it('is refused when two parts hold one tensor (ENG-1)', async () => {
    const path = shard(writeTinyModel(folder(), 'llama'))
    const [first, second] = readdirSync(path)
      .filter((name) => name.endsWith('.safetensors'))
      .map((name) => join(path, name))
    const both = new Map(
      [first, second].flatMap((file) => [...decodeSafetensors(readFileSync(file ?? ''), 'x').tensors]),
    )
    writeFileSync(second ?? '', encodeSafetensors(both))
    await expect(load(path)).rejects.toThrow(/is in model-00001-of-00002.safetensors too/)
  })

  it('is refused by its size before anything of it is read, whatever the config claims (ENG-2)', async () => {
    const path = folder()
    writeFileSync(
      join(path, 'config.json'),
      tinyConfig('llama', { num_hidden_layers: 10_000, intermediate_size: 1_000_000 }),
    )
    await expect(load(path)).rejects.toThrow(/has 260\d+ parameters, the engine takes 1000000/)
  })
})
