import { describe, expect, it } from 'vitest'
import { pluginContext } from '../../../tests/plugin-context.ts'
import { watchedRun } from '../../../tests/watched-run.ts'
import { debugLogger } from './debug-logger.ts'

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
