import { describe, expect, it } from 'vitest'
import { pluginContext } from '../../../tests/plugin-context.ts'
import { watchedRun, watchSteps } from '../../../tests/watched-run.ts'
import { printProgress } from './print-progress.ts'

async function lines(params: Parameters<typeof printProgress.params.parse>[0]) {
  const context = pluginContext(printProgress, printProgress.params.parse(params))
  const run = watchedRun('nowhere', { numSteps: 3 })
  await watchSteps(await printProgress.open(context), run, 0, 3)
  return context.logged.map(({ level, text }) => `${level} ${text.replace(`${run.scope.run?.name}`, 'RUN')}`)
}

describe('print_progress', () => {
  it('logs the metrics of a step as one line (LAB-46)', async () => {
    expect(await lines({})).toEqual([
      'info RUN  step 1/3  loss 1  lr 0.1',
      'info RUN  step 2/3  loss 0.5  lr 0.1',
      'info RUN  step 3/3  loss 0.33333  lr 0.1',
    ])
  })

  it('every few steps, with the metrics that are asked for (LAB-46)', async () => {
    expect(await lines({ every: 2, keys: ['lr', 'absent'] })).toEqual(['info RUN  step 2/3  lr 0.1'])
  })
})
