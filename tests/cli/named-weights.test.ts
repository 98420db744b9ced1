// Weights by name where a checkpoint is asked for: by way of the command line, on the mock backend.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openStore, requireTraining } from '../../src/store/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { runMain } from './run-main.ts'
import { writeSmallLab } from './small-lab.ts'

const folder = temporaryFolders()

describe('weights by name', { timeout: 240_000 }, () => {
  it('a run starts from the selected checkpoint of EXPERIMENT/ARM, which is recorded (USE-316)', async () => {
    const dir = folder()
    writeSmallLab(dir, { steps: 4 })
    const json = async (...args: string[]) => {
      const { code, stdout, stderr } = await runMain([...args, '--json'], { cwd: dir })
      expect(stdout, stderr).not.toBe('')
      return { code, document: JSON.parse(stdout) }
    }
    expect((await json('run', 'config.yaml')).code).toBe(0)
    const { checkpoints } = (await json('checkpoint', 'list')).document
    const states = checkpoints.filter((each: { kind: string; best: boolean }) => each.kind === 'state' && each.best)
    const [arm = ''] = states.map((each: { run: string }) => each.run.replace(/__s\d+$/, ''))
    expect(arm).toMatch(/^colours\//)

    const first = JSON.parse(readFileSync(join(dir, 'config.yaml'), 'utf8'))
    const model = { ...first.matrix.base_run.model, init_from_checkpoint: arm }
    const again = {
      ...first,
      name: 'again',
      matrix: { ...first.matrix, base_run: { ...first.matrix.base_run, model } },
    }
    writeFileSync(join(dir, 'again.yaml'), JSON.stringify(again))
    const { code, document } = await json('run', 'again.yaml')
    expect([code, document.status]).toEqual([0, 'completed'])
    await using store = await openStore(join(dir, '.evsys', 'evsys.db'))
    const runs = await store.runs(document.experiment_id)
    expect(runs).toHaveLength(4)
    const refs = states.map((each: { ref: string }) => each.ref)
    for (const row of runs) expect(refs).toContain(requireTraining(row).config.model.init_from_checkpoint)

    const wrong = (name: string) => [
      'validate',
      'again.yaml',
      '--set',
      `matrix.base_run.model.init_from_checkpoint=${name}`,
    ]
    expect(await json(...wrong('colours/nothing'))).toMatchObject({
      code: 2,
      document: { errors: [{ code: 'STORE_MISSING', where: { file: '--set' }, fix: expect.stringContaining(arm) }] },
    })

    expect(await json(...wrong('run_'))).toMatchObject({
      code: 2,
      document: { errors: [{ code: 'STORE_AMBIGUOUS', where: { file: '--set' } }] },
    })
  })
})
