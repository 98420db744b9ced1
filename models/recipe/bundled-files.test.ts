import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../src/kernel/index.ts'
import { bundledFileNames, ensureBundledModel } from '../../src/models/folders/bundled-models.ts'
import { resolveModelFolder } from '../../src/models/folders/resolve-model-folder.ts'
import { temporaryFolders } from '../../tests/temporary-folder.ts'
import { bundledConfig, bundledGenerationConfig, bundledShapes, bundledTokenizerConfig } from './bundled-files.ts'

const folder = temporaryFolders()
const models = fileURLToPath(new URL('..', import.meta.url))
const names = ['evsys/nano', 'evsys/tiny'] as const

describe('bundled models', () => {
  it.each(names)('%s has the files that its shape says (MOD-30)', async (name) => {
    const at = await ensureBundledModel(name)
    const read = (file: string) => JSON.parse(readFileSync(join(at, file), 'utf8'))
    expect(read('config.json')).toEqual(bundledConfig(bundledShapes[name]))
    expect(read('generation_config.json')).toEqual(bundledGenerationConfig(bundledShapes[name]))
    expect(read('tokenizer_config.json')).toEqual(bundledTokenizerConfig(bundledShapes[name]))
    expect(readdirSync(at).sort()).toEqual([...bundledFileNames, 'README.md'].sort())
  })

  it.each([
    ['evsys/nano', 400_000],
    ['evsys/tiny', 12_000_000],
  ] as const)('%s stays below its size (MOD-30)', async (name, limit) => {
    const at = await ensureBundledModel(name)
    const sizes = readdirSync(at).map((file) => statSync(join(at, file)).size)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(limit)
  })

  it('digests are those of the files (MOD-31)', () => {
    const digests = JSON.parse(readFileSync(join(models, 'digests.json'), 'utf8'))
    for (const name of names) {
      const found = bundledFileNames.map((file) => [file, sha256(readFileSync(join(models, name.slice(6), file)))])
      expect(digests[name]).toEqual(Object.fromEntries(found))
    }
  })
})

describe('ensureBundledModel', () => {
  it('is where a name leads, in the package, without a copy (MOD-31)', async () => {
    const { folder: at, source } = await resolveModelFolder('evsys/nano', { env: {} })
    expect(source).toBe('bundled')
    expect(at).toBe(join(models, 'nano'))
  })

  it('what is damaged or missing is a typed error, and fine again once mended (MOD-31)', async () => {
    const copy = folder()
    cpSync(models, copy, { recursive: true, filter: (path) => !path.includes('recipe') && !path.includes('tiny') })
    const weights = join(copy, 'nano/model.safetensors')
    const whole = readFileSync(weights)
    const damages = [
      () => truncateSync(weights, 1000),
      () => writeFileSync(weights, Buffer.concat([whole.subarray(0, -1), Buffer.of(1)])),
      () => rmSync(weights),
    ]
    for (const damage of damages) {
      damage()
      await expect(ensureBundledModel('evsys/nano', copy)).rejects.toMatchObject({ code: 'MODEL_INVALID' })
    }
    writeFileSync(weights, whole)
    expect(await ensureBundledModel('evsys/nano', copy)).toBe(join(copy, 'nano'))
  })
})
