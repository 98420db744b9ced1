// The life of an experiment as its user meets it: what is judged by, resumed, refused and done again.
import { describe, expect, it } from 'vitest'
import { runExperiment } from '../../src/lab/experiment/run-experiment.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { experimentProject, twoByTwo } from './experiment-project.ts'

const folder = temporaryFolders()
const { matrix, ...rest } = twoByTwo
const run = { ...matrix.base_run, algorithm: { kind: 'sft', params: { max_steps: 3 } } }
const plain = { ...rest, metadata: {}, n_repeats: 1, run }

/** Whole experiments in several processes, from sources: on a busy machine each takes a while. */
describe('an objective on a training metric', { timeout: 300_000 }, () => {
  it('ranks the arms by what their runs ended with (USE-61)', async () => {
    const { claim } = twoByTwo.metadata
    const file = experimentProject(folder(), { ...twoByTwo, metadata: { success_metric: 'loss', claim } })
    const result = await runExperiment(file)
    expect(result).toMatchObject({
      objective: { metric: 'training.loss', direction: 'min' },
      best_arm: 'two-by-two__learning_rate0p1',
    })
    expect(result.arms.map(({ score }) => score?.n)).toEqual([2, 2])
    expect(result.conclusion?.text).toContain('on training.loss')
  })

  it('that no run reports is named in the conclusion (USE-61)', async () => {
    const file = experimentProject(folder(), { ...plain, metadata: { success_metric: 'los' } })
    const { conclusion, best_arm } = await runExperiment(file)
    expect(best_arm).toBeNull()
    expect(conclusion?.text).toContain('No arm is ranked: no run has training.los.')
  })
})
