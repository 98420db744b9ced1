import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../temporary-folder.ts'
import { runMain } from './run-main.ts'

const folder = temporaryFolders()
const baseline = ['research', 'baseline', '--task', 'table-search', '--json']

/** A patch of the one file that a candidate of a table is. */
const patch = (from: number, to: number) =>
  `--- a/config.json\n+++ b/config.json\n@@ -3,3 +3,3 @@\n   "batch_size": 128,\n-  "width": ${from},\n+  "width": ${to},\n   "depth": 1,\n`

describe('research baseline', () => {
  it('measures the baseline with patches in it, in their order (RES-712)', async () => {
    const cwd = folder()
    writeFileSync(join(cwd, 'one.patch'), patch(32, 64))
    writeFileSync(join(cwd, 'two.patch'), patch(64, 128))
    const score = async (...words: string[]) => {
      const { code, stdout } = await runMain([...baseline, ...words], { cwd })
      expect(code).toBe(0)
      return JSON.parse(stdout)
    }
    const plain = await score()
    const changed = await score('--patch', 'one.patch', '--patch', 'two.patch')
    expect(changed).toMatchObject({ task: 'table-search', patches: ['one.patch', 'two.patch'], failure: null })
    expect(changed.score.mean).not.toBe(plain.score.mean)
  })

  it('says which patch does not fit, and what to do (RES-712)', async () => {
    const cwd = folder()
    writeFileSync(join(cwd, 'two.patch'), patch(64, 128))
    const unfit = await runMain([...baseline, '--patch', 'two.patch'], { cwd })
    expect(unfit.code).toBe(2)
    expect(JSON.parse(unfit.stdout).errors).toMatchObject([
      { code: 'CONFIG_INVALID', message: expect.stringContaining('two.patch does not fit the baseline') },
    ])
    expect((await runMain([...baseline, '--patch', 'none.patch'], { cwd })).code).toBe(2)
  })
})
