import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { samplePlan } from '../../../tests/sample-plan.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { manualClock } from '../../kernel/index.ts'
import { type OpenStore, openStore } from '../../store/index.ts'
import { beginExperiment, finishedExperiment } from './begin-experiment.ts'

const folder = temporaryFolders()
const clock = manualClock(Date.parse('2026-01-02T03:04:05.678Z'))

function begin(store: OpenStore, projectDir: string, { resume = false, configHash = 'c' } = {}) {
  return beginExperiment(store, samplePlan({ configHash }), { resume, projectDir, clock, provenance: {} })
}

describe('an experiment that begins', () => {
  it('has a folder of its own, also when several start in the same millisecond (LAB-34)', async () => {
    const dir = folder()
    await using store = await openStore(join(dir, 'evsys.db'))
    const begun = await Promise.all([begin(store, dir), begin(store, dir), begin(store, dir)])
    expect(begun.map(({ outputDir }) => outputDir).toSorted()).toEqual(
      ['678', '679', '680'].map((ms) => join(dir, '.evsys', 'runs', `2026-01-02-03-04-05-${ms}_sample`)),
    )
    expect(begun.map(({ outputDir }) => existsSync(outputDir))).toEqual([true, true, true])
  })

  it('is the newest unfinished one of the same configuration when it is resumed (LAB-34)', async () => {
    const dir = folder()
    await using store = await openStore(join(dir, 'evsys.db'))
    const first = await begin(store, dir)
    const { experiment } = await begin(store, dir)
    await begin(store, dir, { configHash: 'another' })
    const resumed = await begin(store, dir, { resume: true })
    expect(resumed.experiment.id).toBe(experiment.id)
    await finish(store, experiment.id)
    expect((await begin(store, dir, { resume: true })).outputDir).toBe(first.outputDir)
  })

  it('starts when there is none to resume; the newest that has finished is found (LAB-34, USE-65)', async () => {
    const dir = folder()
    await using store = await openStore(join(dir, 'evsys.db'))
    const plan = samplePlan({ configHash: 'c' })
    expect(await finishedExperiment(store, plan)).toBeUndefined()
    const { experiment, isResumed } = await begin(store, dir, { resume: true })
    expect(isResumed).toBe(false)
    expect(await finishedExperiment(store, plan)).toBeUndefined()
    expect(await begin(store, dir, { resume: true })).toMatchObject({
      experiment: { id: experiment.id },
      isResumed: true,
    })
    await finish(store, experiment.id)
    expect(await finishedExperiment(store, plan)).toMatchObject({ id: experiment.id })
  })
})

async function finish(store: OpenStore, id: string): Promise<void> {
  const stream = `experiment:${id}`
  const { nextEvent } = await store.cursor(stream)
  const about = { seq: nextEvent, at: '2026-01-02T03:04:06.000Z', experiment_id: id }
  await store.append(stream, nextEvent - 1, [
    { ...about, type: 'experiment.finished', status: 'completed', verdict: 'exploratory', conclusion: 'done' },
  ])
}
