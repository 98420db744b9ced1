import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { fileError } from '../../kernel/index.ts'
import { requireSpace } from './supervise-run.ts'

const folder = temporaryFolders()
const full = (code: string) => fileError('write', '/disk/x', Object.assign(new Error(code), { code })).toRecord()

describe('a run that failed', () => {
  it('did so for lack of space when its error says so, and --resume is the way on (LAB-26)', async () => {
    for (const code of ['ENOSPC', 'EDQUOT']) {
      await expect(requireSpace(folder(), full(code))).rejects.toMatchObject({
        code: 'FILE_FAILED',
        fix: 'free some space (`df` shows how much), then resume with --resume.',
      })
    }
  })

  it('did not where there is space, whatever else went wrong (LAB-26)', async () => {
    const dir = folder()
    await requireSpace(dir, full('EACCES'))
    await requireSpace(dir, { code: 'PLUGIN_FAILED', message: 'no space is left on the disk' }) // anybody can say that
    await requireSpace(join(dir, 'gone'), undefined)
    expect(readdirSync(dir)).toEqual([])
  })
})
