import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { samplePlan } from '../../../tests/sample-plan.ts'
import type { RunRow, TrainingRunRow } from '../../store/index.ts'
import { scheduleRuns } from './conduct-experiment.ts'

const [{ config } = { config: undefined }] = samplePlan({}).runs

function row(id: string, more: Partial<TrainingRunRow> = {}): TrainingRunRow {
  if (config === undefined) throw new Error('the sample has no run')
  const names = { id, name: id, arm: id, experimentId: 'exp', configHash: id }
  return { ...names, kind: 'training', seed: 1, config, status: 'pending', attempt: 0, metrics: {}, ...more }
}

/** Schedules runs that end when they are told to, or as `ends` says. */
function schedule(
  runs: readonly RunRow[],
  options: { limit?: number | undefined; ends?: ((id: string) => Promise<boolean>) | undefined } = {},
) {
  const stop = new AbortController()
  const started: string[] = []
  const skipped: string[] = []
  let active = 0
  let most = 0
  let isGivenUp = false
  const done = scheduleRuns({
    runs,
    limit: options.limit ?? 2,
    signal: stop.signal,
    async run({ id }) {
      started.push(id)
      active += 1
      most = Math.max(most, active)
      try {
        return await (options.ends?.(id) ?? Promise.resolve(true))
      } finally {
        active -= 1
      }
    },
    async skip({ id }, { id: before }) {
      skipped.push(`${id} after ${before}`)
    },
    giveUp() {
      isGivenUp = true
    },
  })
  return { stop, started, skipped, done, most: () => most, active: () => active, isGivenUp: () => isGivenUp }
}

describe('a schedule', () => {
  it('starts every run once, in order, never more at a time than allowed (LAB-31)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 1, max: 4 }), async (count, limit) => {
        const runs = Array.from({ length: count }, (_, i) => row(`r${i}`))
        const turn = () => new Promise<boolean>((resolve) => setImmediate(() => resolve(true)))
        const { done, started, most } = schedule(runs, { limit, ends: turn })
        await done
        expect(started).toEqual(runs.map(({ id }) => id))
        expect(most()).toBeLessThanOrEqual(limit)
      }),
    )
  })

  it('keeps what is completed, and does again what failed (LAB-31)', async () => {
    const { done, started } = schedule([row('a', { status: 'completed' }), row('b', { status: 'failed' }), row('c')])
    await done
    expect(started).toEqual(['b', 'c'])
  })

  it('lets a run of a chain wait for the one before, and skips those behind one that failed (LAB-31)', async () => {
    const runs = [
      row('a'),
      row('a2', { afterRun: 'a' }),
      row('b'),
      row('b2', { afterRun: 'b' }),
      row('b3', { afterRun: 'b2' }),
    ]
    const order: string[] = []
    const { done, started, skipped } = schedule(runs, {
      async ends(id) {
        await new Promise(setImmediate)
        order.push(id)
        return id !== 'b'
      },
    })
    await done
    expect(order.indexOf('a')).toBeLessThan(order.indexOf('a2'))
    expect(started).not.toContain('b2')
    expect(skipped).toEqual(['b2 after b', 'b3 after b2'])
  })

  it('starts nothing more after an abort, and waits for what runs (LAB-31)', async () => {
    let end = (_ok: boolean) => {}
    const { done, started, stop, active } = schedule([row('a'), row('b')], {
      limit: 1,
      ends: () =>
        new Promise((resolve) => {
          end = resolve
        }),
    })
    stop.abort()
    end(true)
    await done
    expect({ started, active: active() }).toEqual({ started: ['a'], active: 0 })
  })

  it('throws the first error once nothing runs any more (LAB-31)', async () => {
    let end = (_error: Error) => {}
    const { done, started, active, isGivenUp } = schedule([row('a'), row('b'), row('c')], {
      ends: (id) =>
        id === 'a'
          ? Promise.reject(new Error('first'))
          : new Promise((_resolve, reject) => {
              end = reject
            }),
    })
    await new Promise(setImmediate)
    expect({ isGivenUp: isGivenUp(), active: active() }).toEqual({ isGivenUp: true, active: 1 })
    end(new Error('second'))
    await expect(done).rejects.toThrow('first')
    expect({ started, active: active() }).toEqual({ started: ['a', 'b'], active: 0 })
  })
})

describe('a run that refers to other arms', () => {
  it('waits for those of its seed, and for no other (RL-311)', async () => {
    const named = (arm: string, seed: number, checkpoint?: string) => {
      if (config === undefined) throw new Error('the sample has no run')
      const model = { ...config.model, ...(checkpoint === undefined ? {} : { init_from_checkpoint: checkpoint }) }
      return row(`${arm}${seed}`, { arm, seed, config: { ...config, model } })
    }
    const runs = [named('b', 1, 'arm:a'), named('b', 2, 'arm:a'), named('a', 1), named('a', 2)]
    const { started, skipped, done } = schedule(runs, { limit: 9, ends: async (id) => id !== 'a2' })
    await done
    expect(started).toEqual(['a1', 'a2', 'b1'])
    expect(skipped).toEqual(['b2 after a2'])
  })
})
