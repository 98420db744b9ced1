import { beforeAll, describe, expect, it } from 'vitest'
import { ExperimentResult, RunDataPreview } from '../../src/contracts/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { runMain } from './run-main.ts'
import { writeSmallLab } from './small-lab.ts'

const folder = temporaryFolders()

describe('what runs trained on', () => {
  const cwd = folder()
  let trial: ExperimentResult
  beforeAll(async () => {
    writeSmallLab(cwd, { file: { n_repeats: 1 } })
    const { code, stdout } = await runMain(['run', 'config.yaml', '--dry', '--steps', '1', '--json'], { cwd })
    expect(code).toBe(0)
    trial = ExperimentResult.parse(JSON.parse(stdout))
  }, 120_000)

  it('is part of the result of a trial (DATA-14)', () => {
    expect(trial.data?.map(({ arm, preview }) => [arm, preview?.rows, preview?.examples.length])).toEqual([
      ['colours__learning_rate0p001', 3, 3],
      ['colours__learning_rate0p3', 3, 3],
    ])
  })

  it('is shown of an experiment and of one run, also as JSON (DATA-14)', async () => {
    const shown = await runMain(['show', 'colours', '--data'], { cwd })
    expect(shown.code).toBe(0)
    await expect(shown.stdout).toMatchFileSnapshot('golden/show-data.txt')
    const [run] = trial.data ?? []
    const one = await runMain(['show', run?.run_id ?? '', '--data', '--json'], { cwd })
    const { runs } = JSON.parse(one.stdout)
    expect(runs.map((each: unknown) => RunDataPreview.parse(each))).toEqual([run])
    expect((await runMain(['show', 'nothing', '--data'], { cwd })).code).toBe(2)
  })
})
