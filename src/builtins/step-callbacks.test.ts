import { describe, expect, it } from 'vitest'
import { pluginContext } from '../../tests/plugin-context.ts'
import { watchedRun, watchSteps } from '../../tests/watched-run.ts'
import { debugLogger, printProgress } from './step-callbacks.ts'

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

describe('debug_logger', () => {
  it('logs every hook with its arguments, rows cut to a few (LAB-46)', async () => {
    const context = pluginContext(debugLogger, { max_pred_rows: 2 })
    const hooks = await debugLogger.open(context)
    const run = watchedRun('nowhere')
    await hooks.onRunStart?.(run.scope)
    await hooks.onStepEnd?.(run.at(0), { loss: 1 })
    await hooks.onBenchmarkEval?.(run.scope, 'val', 'val', { 'pass@1': 0 }, [{ a: 1 }, { a: 2 }, { a: 3 }])
    expect(context.logged).toEqual([
      { level: 'debug', text: 'onRunStart ' },
      { level: 'debug', text: 'onStepEnd {"loss":1}' },
      { level: 'debug', text: 'onBenchmarkEval "val" "val" {"pass@1":0} [{"a":1},{"a":2}]' },
    ])
  })

  it('keeps lines short (LAB-46)', async () => {
    const context = pluginContext(debugLogger, { max_len: 20 })
    const hooks = await debugLogger.open(context)
    await hooks.onTrainData?.(watchedRun('nowhere').scope, [{ text: 'x'.repeat(1000) }])
    expect(context.logged.map(({ text }) => text)).toEqual(['onTrainData [{"text":"xxxxx'.slice(0, 20)])
  })
})
