import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { startChild } from '../../../tests/start-child.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { sha256 } from '../../kernel/index.ts'
import { resolveModelFolder } from '../folders/resolve-model-folder.ts'
import { bundledFiles } from './bundled-files.ts'
import { bundledModels } from './bundled-models.ts'
import { countWeights } from './bundled-weights.ts'
import { ensureBundledModel } from './ensure-bundled-model.ts'

const folder = temporaryFolders()
const models = fileURLToPath(new URL('../../../models', import.meta.url))
const read = (path: string) => readFileSync(join(models, path), 'utf8')

describe('bundled models', () => {
  it('are made again byte for byte from their source (MOD-30)', () => {
    const files = bundledFiles({ prose: read('source/prose.txt'), words: read('source/words.txt') })
    expect([...files.keys()].filter((path) => read(path) !== files.get(path))).toEqual([])
    expect(files.size).toBe(9)
  })

  it('have the promised sizes (MOD-30)', async () => {
    expect(countWeights(bundledModels['evsys/tiny'])).toBe(3_950_848)
    const nano = await ensureBundledModel('evsys/nano', folder())
    const sizes = readdirSync(nano).map((file) => statSync(join(nano, file)).size)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(400_000)
  })

  it('have weights in bfloat16 of the named shapes: ones in norms, a narrow normal elsewhere (MOD-30)', async () => {
    const at = await ensureBundledModel('evsys/nano', folder())
    const bytes = readFileSync(join(at, 'model.safetensors'))
    const length = Number(bytes.readBigUInt64LE())
    const { __metadata__, ...tensors } = JSON.parse(bytes.subarray(8, 8 + length).toString())
    expect(__metadata__).toEqual({ format: 'pt' })
    expect(Object.keys(tensors)).toHaveLength(2 + 2 * 9)
    expect(tensors['model.layers.1.self_attn.k_proj.weight'].shape).toEqual([32, 64])
    const values = (name: string) => {
      const [begin, end] = tensors[name].data_offsets
      const slice = bytes.subarray(8 + length + begin, 8 + length + end)
      return Array.from({ length: slice.length / 2 }, (_, at) => {
        return new DataView(Uint32Array.of(slice.readUInt16LE(2 * at) << 16).buffer).getFloat32(0, true)
      })
    }
    expect(new Set(values('model.norm.weight'))).toEqual(new Set([1]))
    const embedding = values('model.embed_tokens.weight')
    const mean = embedding.reduce((sum, x) => sum + x, 0) / embedding.length
    const deviation = Math.sqrt(embedding.reduce((sum, x) => sum + (x - mean) ** 2, 0) / embedding.length)
    expect(Math.abs(mean)).toBeLessThan(0.0005)
    expect(deviation).toBeGreaterThan(0.0195)
    expect(deviation).toBeLessThan(0.0205)
    expect(8 + length + bytes.length).toBe(8 + length + 8 + length + 2 * countWeights(bundledModels['evsys/nano']))
  })
})

describe('ensureBundledModel', () => {
  it('makes a model once, and again what was damaged (MOD-31)', async () => {
    const cache = folder()
    const { folder: at, source } = await resolveModelFolder('evsys/nano', { env: { EVSYS_CACHE: cache } })
    expect(source).toBe('bundled')
    const weights = join(at, 'model.safetensors')
    const made = statSync(weights)
    expect(await ensureBundledModel('evsys/nano', cache)).toBe(at)
    expect(statSync(weights)).toMatchObject({ ino: made.ino, mtimeMs: made.mtimeMs })
    const digest = sha256(readFileSync(weights))
    expect(digest).toBe(JSON.parse(read('digests.json'))['evsys/nano'])
    const damages = [
      () => truncateSync(weights, 1000),
      () => writeFileSync(join(at, 'tokenizer.json'), '{}'),
      () => rmSync(join(at, 'config.json')),
    ]
    for (const damage of damages) {
      damage()
      expect(await ensureBundledModel('evsys/nano', cache)).toBe(at)
      expect(sha256(readFileSync(weights))).toBe(digest)
      expect(readFileSync(join(at, 'tokenizer.json'), 'utf8')).toBe(read('nano/tokenizer.json'))
    }
    expect(readdirSync(join(cache, 'models'))).toHaveLength(1)
  })

  it('removes what killed processes left, but not what others make now (MOD-31)', async () => {
    const cache = folder()
    const old = join(cache, 'models', '.unfinished-old')
    const fresh = join(cache, 'models', '.unfinished-new')
    for (const left of [old, fresh]) mkdirSync(join(left, 'x'), { recursive: true })
    utimesSync(old, 0, 0)
    await ensureBundledModel('evsys/nano', cache)
    expect([existsSync(old), existsSync(fresh)]).toEqual([false, true])
  })

  it('a cache that cannot be written is a typed error (MOD-31)', async () => {
    const file = join(folder(), 'file')
    writeFileSync(file, '')
    await expect(ensureBundledModel('evsys/nano', file)).rejects.toMatchObject({ code: 'FILE_FAILED' })
  })

  it('calls at once end with one whole model (MOD-31)', async () => {
    const cache = folder()
    const folders = await Promise.all(Array.from({ length: 4 }, () => ensureBundledModel('evsys/nano', cache)))
    expect(new Set(folders).size).toBe(1)
    expect(readdirSync(join(cache, 'models'))).toHaveLength(1)
  })

  it('so do processes, also after one was killed on the way (MOD-31)', { timeout: 120_000 }, async () => {
    const cache = folder()
    const start = () => startChild('bundled-model', ['evsys/nano', cache])
    await using victim = start()
    expect(await victim.line()).toBe('ready')
    await victim.kill()
    const folders = await Promise.all(
      [start(), start()].map(async (child) => {
        expect(await child.line()).toBe('ready')
        const at = await child.line()
        expect(await child.exit()).toBe(0)
        return at
      }),
    )
    const at = await ensureBundledModel('evsys/nano', cache)
    expect(folders).toEqual([at, at])
  })
})
