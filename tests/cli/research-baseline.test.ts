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
  it('measures noise without being asked for seeds; one seed says that it measured none (USE-292)', async () => {
    const cwd = folder()
    const words = ['research', 'baseline', '--task', 'digits', '--train-seconds', '0.3']
    const measured = await runMain([...words, '--json'], { cwd })
    expect(measured.code, measured.stderr + measured.stdout).toBe(0)
    expect(JSON.parse(measured.stdout).score).toMatchObject({ n: expect.any(Number), seed_sd: expect.any(Number) })
    const single = await runMain([...words, '--seeds', '1'], { cwd })
    expect(single.stdout).toContain('noise not measured')
  }, 120_000)

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
    const missing = await runMain([...baseline, '--patch', 'none.patch'], { cwd })
    expect(JSON.parse(missing.stdout).errors).toMatchObject([{ code: 'FILE_FAILED' }])
  })

  it('measures what a session measured, seed for seed, from its patches (RES-714)', async () => {
    const cwd = folder()
    const run = ['research', 'run', '--task', 'table-search', '--max-experiments', '8', '--json']
    expect((await runMain(run, { cwd, env: {} })).code).toBe(0)
    const exported = await runMain(['research', 'export', '--patches', 'kept', '--json'], { cwd })
    const { patches } = JSON.parse(exported.stdout)
    expect(patches.length).toBeGreaterThan(1)
    for (const { reproduce, measured } of patches) {
      const words = reproduce.split(' ').slice(1)
      const again = await runMain([...words, '--json'], { cwd: join(cwd, 'kept') })
      const { by_seed } = JSON.parse(again.stdout)
      expect(by_seed.map(({ seed, value }: typeof measured) => ({ seed, value }))).toEqual(measured)
      expect(measured.length).toBeGreaterThan(0)
    }
  })

  it('takes seeds by their number or one by one, and no others (RES-714)', async () => {
    const cwd = folder()
    const seeds = async (text: string) => {
      const { code, stdout } = await runMain([...baseline, '--seeds', text], { cwd })
      return code === 0 ? JSON.parse(stdout).by_seed.map(({ seed }: { seed: number }) => seed) : code
    }
    expect(await seeds('7')).toHaveLength(7)
    expect(await seeds('3,9')).toEqual([3, 9])
    expect(await seeds('9,')).toEqual([9])
    for (const wrong of ['0', '-1', '3,3', '1,x', ',', '99999999999,']) expect(await seeds(wrong)).toBe(2)
  })
})
