// Weights by name where a checkpoint is asked for: by way of the command line, on the mock backend.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadExperiment } from '../../src/config/index.ts'
import { openStore, requireTraining } from '../../src/store/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { runMain } from './run-main.ts'
import { writeSmallLab } from './small-lab.ts'

const folder = temporaryFolders()

describe('a client of trained weights', () => {
  it('takes them by name wherever it stands, and other clients keep their params (USE-481)', async () => {
    const asked: string[] = []
    const findWeights = async (name: string, kind: string) => {
      asked.push(`${kind} ${name}`)
      return `tinker://run/sampler_weights/${name.replace('/', '-')}`
    }
    const local = { kind: 'local', params: { model: 'evsys/nano', checkpoint: 'colours/deep' } }
    const value = {
      name: 'searched',
      metadata: {
        benchmark: [
          { name: 'val', path: 'val', models: [{ kind: 'local', model: 'evsys/nano', checkpoint: 'colours/flat' }] },
        ],
      },
      run: {
        data: { source_kind: 'in_memory', rows: [{ text: 'a' }] },
        model: { name: 'evsys/nano' },
        algorithm: {
          kind: 'prompt_search',
          params: { proposer: { client: local }, teacher: { client: { kind: 'own', params: { checkpoint: 'mine' } } } },
        },
      },
    }
    const { plan } = await loadExperiment({ value }, { cwd: folder(), findWeights })
    expect(asked.toSorted()).toEqual(['sampler colours/deep', 'sampler colours/flat'])
    const text = JSON.stringify(plan)
    for (const address of [
      'tinker://run/sampler_weights/colours-deep',
      'tinker://run/sampler_weights/colours-flat',
      'mine',
    ])
      expect(text).toContain(`"checkpoint":"${address}"`)
  })
})

describe('weights by name', { timeout: 240_000 }, () => {
  it('a run starts from the selected checkpoint of EXPERIMENT/ARM, which is recorded (USE-316, USE-486)', async () => {
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

    const other = [...wrong(arm), '--set', 'matrix.base_run.model.name=evsys/nano']
    expect(await json(...other)).toMatchObject({
      code: 2,
      document: {
        errors: [{ code: 'CONFIG_INVALID', message: expect.stringContaining('and the model is evsys/nano') }],
      },
    })

    expect(await json(...wrong('run_'))).toMatchObject({
      code: 2,
      document: { errors: [{ code: 'STORE_AMBIGUOUS', where: { file: '--set' } }] },
    })
  })
})
