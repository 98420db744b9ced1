import { describe, expect, it } from 'vitest'
import { planOf } from '../../tests/load-text.ts'

const file = (steps: string) => `name: e
run: { data: { path: a }, model: { name: m }, algorithm: { kind: sft, params: { lr: 1${steps} } } }
`
const capped = async (steps: string, options: { steps?: number; dry?: boolean }) => {
  const { runs, experiment } = await planOf(file(steps), options)
  return { steps: runs[0]?.config.algorithm.params.max_steps, logs: experiment.log_rollouts }
}

describe('a cap on steps', () => {
  it.each([
    ['', 7],
    [', max_steps: null', 7],
    [', max_steps: 9', 7],
    [', max_steps: 7', 7],
    [', max_steps: 6', 6],
    [', max_steps: many', 'many'],
    [', max_steps: [1]', [1]],
  ])('of 7 over params with "%s" gives %s (CFG-12)', async (written, steps) => {
    expect((await capped(written, { steps: 7 })).steps).toEqual(steps)
  })

  it('of a dry run is 5, or what --steps says, and its rollouts are logged (CFG-12)', async () => {
    expect(await capped(', max_steps: 9', { dry: true })).toEqual({ steps: 5, logs: true })
    expect(await capped(', max_steps: 9', { dry: true, steps: 8 })).toEqual({ steps: 8, logs: true })
    expect(await capped(', max_steps: 9', { steps: 8 })).toEqual({ steps: 8, logs: false })
    expect(await capped(', max_steps: 9', {})).toEqual({ steps: 9, logs: false })
  })

  it.each([0, -1, 1.5, Number.NaN])('of %s is refused (CFG-12)', async (steps) => {
    await expect(planOf(file(''), { steps })).rejects.toMatchObject({ code: 'CLI_USAGE' })
    expect((await capped('', { steps: 1 })).steps).toBe(1)
  })
})
