import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pluginContext } from '../../../tests/plugin-context.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { watchedRun, watchSteps } from '../../../tests/watched-run.ts'
import { tensorboardLogger } from './tensorboard-logger.ts'

const folder = temporaryFolders()

/** Number of records in each file of a folder. */
function recordsIn(dir: string): number[] {
  return readdirSync(dir)
    .sort()
    .map((name) => {
      expect(name).toMatch(/^events\.out\.tfevents\.\d+\./)
      const bytes = readFileSync(join(dir, name))
      let count = 0
      for (let at = 0; at < bytes.length; count++) at += 16 + Number(bytes.readBigUInt64LE(at))
      return count
    })
}

describe('tensorboard_logger', () => {
  it('writes a file per start of training: metrics, scores, and from which step on it counts (LAB-47)', async () => {
    const run = watchedRun(folder())
    const hooks = await tensorboardLogger.open(pluginContext(tensorboardLogger))
    await hooks.onTrainStart?.(run.at(0))
    await watchSteps(hooks, run, 0, 3)
    await hooks.onEval?.(run.at(2), 'val', 'val', { 'pass@1': 0.5 })
    await hooks.onTrainStart?.(run.at(2)) // a roll-back
    await hooks.onEval?.(run.at(1), 'val', 'val', { 'pass@1': 0.4 }) // told again: the first file has it
    await watchSteps(hooks, run, 2, 3)
    await hooks[Symbol.asyncDispose]?.()
    expect(recordsIn(join(run.dir, 'tb'))).toEqual([1 + 3 * 2 + 1, 2 + 2])
  })

  it('writes below the folder that it is given, one folder per run (LAB-47)', async () => {
    const [dir, run] = [folder(), watchedRun(folder())]
    const hooks = await tensorboardLogger.open(pluginContext(tensorboardLogger, { log_dir: dir }))
    await hooks.onTrainStart?.(run.at(0))
    await hooks[Symbol.asyncDispose]?.()
    expect(recordsIn(join(dir, run.scope.run?.name ?? ''))).toEqual([1])
  })
})
