import { describe, expect, it } from 'vitest'
import type * as z from 'zod'
import { pluginContext } from '../../tests/plugin-context.ts'
import { watchedRun } from '../../tests/watched-run.ts'
import { earlyStopping } from './step-callbacks.ts'

type Evaluated = readonly [value: number | undefined, benchmark?: string, split?: string]

/** The evaluations, counted from 1, at which it asks to stop. */
async function stopsAt(params: Partial<z.input<typeof earlyStopping.params>>, evals: readonly Evaluated[]) {
  const hooks = await earlyStopping.open(pluginContext(earlyStopping, { metric: 'pass@1', patience: 2, ...params }))
  const run = watchedRun('nowhere')
  const asked: number[] = []
  await hooks.onTrainStart?.(run.at(0))
  for (const [i, [value, benchmark = 'val', split = 'val']] of evals.entries()) {
    const before = run.stops.length
    await hooks.onEval?.(run.at(i), benchmark, split, value === undefined ? {} : { 'pass@1': value })
    if (run.stops.length > before) asked.push(i + 1)
  }
  return asked
}
const values = (...list: number[]): Evaluated[] => list.map((value) => [value])

describe('early_stopping', () => {
  it('asks to stop after so many evaluations without improvement (LAB-44)', async () => {
    expect(await stopsAt({}, values(0.1, 0.2, 0.2, 0.3, 0.3, 0.1))).toEqual([6])
    expect(await stopsAt({ patience: 1 }, values(0.5, 0.5))).toEqual([2])
    expect(await stopsAt({}, values(0.1, 0.2, 0.3, 0.4, 0.5))).toEqual([])
  })

  it('W14: less may be better, and small changes may not count (LAB-44)', async () => {
    expect(await stopsAt({ mode: 'min' }, values(3, 2, 1, 0.5))).toEqual([])
    expect(await stopsAt({ mode: 'min' }, values(1, 2, 3))).toEqual([3])
    expect(await stopsAt({ min_delta: 0.1 }, values(0.5, 0.55, 0.59))).toEqual([3])
  })

  it('W3: never looks at a test score (LAB-44)', async () => {
    expect(
      await stopsAt({ patience: 1 }, [
        [0.9, 'test', 'test'],
        [0.1, 'test', 'test'],
        [0, 'test', 'test'],
      ]),
    ).toEqual([])
  })

  it('watches one benchmark: the named one, or the first that has the metric (LAB-44)', async () => {
    const looks: Evaluated[] = [
      [undefined, 'a'],
      [0.9, 'b'],
      [0.1, 'a'],
      [0.1, 'a'],
      [0.1, 'b'],
      [0.1, 'b'],
    ]
    expect(await stopsAt({}, looks)).toEqual([6])
    expect(await stopsAt({ eval_name: 'a', patience: 1 }, looks)).toEqual([4])
  })

  it('counts anew, from what is kept, when training begins again (LAB-44)', async () => {
    const hooks = await earlyStopping.open(pluginContext(earlyStopping, { metric: 'pass@1', patience: 2 }))
    const run = watchedRun('nowhere')
    const look = (step: number, value: number) => hooks.onEval?.(run.at(step), 'val', 'val', { 'pass@1': value })
    await hooks.onTrainStart?.(run.at(0))
    for (const [step, value] of [0.5, 0.9, 0.4].entries()) await look(step, value)
    await hooks.onTrainStart?.(run.at(1))
    await look(0, 0.5)
    await look(1, 0.6)
    await look(2, 0.6)
    expect(run.stops).toEqual([])
    await look(3, 0.6)
    expect(run.stops).toEqual(['val.pass@1 has not improved in 2 evaluations'])
  })
})
