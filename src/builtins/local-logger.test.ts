import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pluginContext } from '../../tests/plugin-context.ts'
import { temporaryFolders } from '../../tests/temporary-folder.ts'
import { type WatchedRun, watchedRun, watchSteps } from '../../tests/watched-run.ts'
import { cutBack, LineFiles, localLogger } from './local-logger.ts'

const folder = temporaryFolders()

describe('a file of lines', () => {
  it('grows line by line, in a folder that it makes (LAB-45)', () => {
    using files = new LineFiles()
    const file = join(folder(), 'deep', 'er', 'x.jsonl')
    files.append(file, { step: 0 })
    files.append(file, { step: 1, text: 'a\nb' })
    expect(readFileSync(file, 'utf8')).toBe('{"step":0}\n{"step":1,"text":"a\\nb"}\n')
  })

  it('is cut back to the lines of earlier steps; what is no such line goes (LAB-45)', async () => {
    const file = join(folder(), 'x.jsonl')
    writeFileSync(file, '{"step":0}\n{"step":3}\n{"no":1}\n[]\nnull\n{"step":"1"}\n{"step":2}\n{"step":1')
    await cutBack(file, 3)
    expect(readFileSync(file, 'utf8')).toBe('{"step":0}\n{"step":2}\n')
    await cutBack(join(folder(), 'absent.jsonl'), 3)
  })
})

function treeOf(dir: string): string[] {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => join(dir, name))
  return files
    .filter((file) => statSync(file).isFile())
    .map((file) => relative(dir, file).replaceAll('\\', '/'))
    .sort()
}

const linesOf = (run: WatchedRun, file: string) =>
  readFileSync(join(run.dir, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

async function logAttempt(run: WatchedRun, from: number, to: number) {
  const hooks = await localLogger.open(pluginContext(localLogger))
  await hooks.onTrainData?.(run.scope, [{ messages: [] }, { messages: ['ü'] }])
  await hooks.onTrainStart?.(run.at(from))
  for (let step = from; step < to; step++) {
    await watchSteps(hooks, run, step, step + 1)
    if (step % 2 === 0) continue
    await hooks.onBenchmarkEval?.(run.scope, 'val', 'val', { 'pass@1': step }, [{ task_id: 'a', output: 'x' }], step)
    await hooks.onCheckpoint?.(run.at(step), { kind: 'state', uri: `state${step}` })
  }
  return hooks
}

describe('local_logger', () => {
  it('writes the tree of a run (LAB-45)', async () => {
    const run = watchedRun(folder())
    const hooks = await logAttempt(run, 0, 4)
    await hooks.onRollout?.(run.at(3), [{ group: 0, reward: 1, text: 'x' }])
    await hooks.onBenchmarkEval?.(run.scope, 'test', 'test', { 'pass@1': 1 }, [{ task_id: 't', output: 'y' }])
    expect(treeOf(run.dir)).toEqual([
      'checkpoints.jsonl',
      'logs/data/training_data.jsonl',
      'logs/test/metrics.jsonl',
      'logs/test/rollouts.jsonl',
      'logs/training/metrics.jsonl',
      'logs/training/rollouts.jsonl',
      'logs/validation/metrics.jsonl',
      'logs/validation/rollouts.jsonl',
    ])
    expect(linesOf(run, 'logs/data/training_data.jsonl')).toEqual([{ messages: [] }, { messages: ['ü'] }])
    expect(linesOf(run, 'logs/training/metrics.jsonl')[1]).toEqual({
      step: 1,
      split: 'train',
      metrics: { loss: 0.5, lr: 0.1 },
    })
    expect(linesOf(run, 'checkpoints.jsonl')).toEqual([
      { step: 1, kind: 'state', ref: 'state1' },
      { step: 3, kind: 'state', ref: 'state3' },
    ])
  })

  it('W8: scores lie with their split and step, and in-loop answers are written (LAB-45)', async () => {
    const run = watchedRun(folder())
    const hooks = await logAttempt(run, 0, 2)
    await hooks.onBenchmarkEval?.(run.scope, 'exam', 'test', { 'pass@1': 0 }, [{ task_id: 't' }], 1)
    expect(linesOf(run, 'logs/validation/metrics.jsonl')).toEqual([
      { step: 1, split: 'val', benchmark: 'val', metrics: { 'pass@1': 1 } },
    ])
    expect(linesOf(run, 'logs/validation/rollouts.jsonl')).toEqual([
      { step: 1, benchmark: 'val', task_id: 'a', output: 'x' },
    ])
    expect(linesOf(run, 'logs/test/metrics.jsonl')).toEqual([
      { step: 1, split: 'test', benchmark: 'exam', metrics: { 'pass@1': 0 } },
    ])
  })

  it('goes on after a resume without a loss or a repeat (LAB-45)', async () => {
    const [whole, resumed] = [watchedRun(folder()), watchedRun(folder())]
    await logAttempt(whole, 0, 8)
    await logAttempt(resumed, 0, 6)
    appendFileSync(join(resumed.dir, 'logs/training/metrics.jsonl'), '{"step": 6, "spl')
    await logAttempt(resumed, 4, 8)
    for (const file of treeOf(whole.dir)) expect(linesOf(resumed, file), file).toEqual(linesOf(whole, file))
  })

  it('logs a line every so many steps when asked to (LAB-45)', async () => {
    const context = pluginContext(localLogger, { print_every: 2, keys: ['loss'] })
    const run = watchedRun(folder())
    await watchSteps(await localLogger.open(context), run, 0, 4)
    expect(context.logged.map(({ text }) => text.replace(/^\S+ +/, ''))).toEqual([
      'step 2/10  loss 0.5',
      'step 4/10  loss 0.25',
    ])
  })
})
