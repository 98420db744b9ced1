import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { decodeSafetensors } from '../../../src/engine/files/safetensors-file.ts'
import { resolveModelFolder } from '../../../src/models/index.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { makeUntrainedFolder } from './untrained-folder.ts'

const folder = temporaryFolders()
const tensorsIn = (dir: string) => decodeSafetensors(readFileSync(join(dir, 'model.safetensors')), dir).tensors

describe('makeUntrainedFolder', () => {
  it('has the tensors of the model in the same shapes and types, with values of a seed (MOD-41)', async () => {
    const { folder: trained } = await resolveModelFolder('evsys/nano')
    const [to, again] = [folder(), folder()]
    await makeUntrainedFolder(trained, to)
    await makeUntrainedFolder(trained, again)
    const [before, after] = [tensorsIn(trained), tensorsIn(to)]
    const shapes = (tensors: typeof before) => [...tensors].map(([name, { shape, dtype }]) => ({ name, shape, dtype }))
    expect(shapes(after)).toEqual(shapes(before))
    expect(tensorsIn(again)).toEqual(after)
    for (const [name, { data }] of after) {
      const spread = Math.sqrt(data.reduce((sum, value) => sum + value ** 2, 0) / data.length)
      if (name.includes('norm')) expect(new Set(data)).toEqual(new Set([1]))
      else expect(spread).toBeCloseTo(/o_proj|down_proj/.test(name) ? 0.01 : 0.02, 3)
    }
  })
})
