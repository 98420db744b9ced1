import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryOf } from '../../tests/arbitrary-of.ts'
import { ExperimentEvent, RunEvent } from './events.ts'
import { Metrics } from './quantity.ts'

const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const at = '2026-01-02T03:04:05.678Z'

describe.each([
  ['run', RunEvent],
  ['experiment', ExperimentEvent],
])('an event of a %s', (_stream, union) => {
  const variants = union.options.map((option) => [option.shape.type.value, option] as const)

  it('has a type that no other has (CON-3)', () => {
    const types = variants.map(([type]) => type)
    expect(new Set(types).size).toBe(types.length)
  })

  it.each(variants)('%s comes back from JSON as it was (CON-3)', (_type, variant) => {
    fc.assert(
      fc.property(arbitraryOf<typeof variant>(variant), (written) => {
        const event = union.parse(written)
        expect(union.parse(throughJson(event))).toStrictEqual(event)
      }),
    )
  })

  it.each(variants)('%s keeps everything that was written (CON-3)', (_type, variant) => {
    fc.assert(
      fc.property(arbitraryOf<typeof variant>(variant), (written) => {
        expect(union.parse(written)).toMatchObject(written)
      }),
    )
  })

  it.each(variants)('%s refuses a stream position before 1 and a time that is not UTC (CON-3)', (_type, variant) => {
    fc.assert(
      fc.property(arbitraryOf<typeof variant>(variant), (written) => {
        for (const wrong of [{ seq: 0 }, { seq: 1.5 }, { at: '2026-01-02T03:04:05+01:00' }, { at: 'yesterday' }]) {
          expect(union.safeParse({ ...written, ...wrong }).success).toBe(false)
        }
      }),
      { numRuns: 10 },
    )
  })
})

describe('RunEvent', () => {
  const base = { seq: 1, at, run_id: 'r' }

  it('drops keys it does not know, since a newer writer may add some (CON-3)', () => {
    const event = { ...base, type: 'notice', text: 'hello' }
    expect(RunEvent.parse({ ...event, mood: 'good' })).toStrictEqual(event)
  })

  it('refuses a type it does not know (CON-3)', () => {
    expect(RunEvent.safeParse({ ...base, type: 'run.exploded' }).success).toBe(false)
  })

  it('fills in that a checkpoint is not the final one (CON-3)', () => {
    const saved = { ...base, type: 'checkpoint.saved', step: 3, kind: 'state', ref: 'tinker://m/weights/3' }
    expect(RunEvent.parse(saved)).toStrictEqual({ ...saved, final: false })
  })

  it('cannot finish a run as pending or running (CON-3)', () => {
    const finished = { ...base, type: 'run.finished', metrics: {} }
    const accepted = ['pending', 'running', 'completed', 'stopped', 'failed', 'cancelled'].filter(
      (status) => RunEvent.safeParse({ ...finished, status }).success,
    )
    expect(accepted).toEqual(['completed', 'stopped', 'failed', 'cancelled'])
  })

  it('tells a rollout that failed from one that infrastructure failed (CON-3)', () => {
    const failed = { ...base, type: 'rollout.finished', task_id: 't', sample: 0 }
    const error = { code: 'BACKEND_FAILED', message: 'gone' }
    expect(RunEvent.safeParse({ ...failed, error: { ...error, infra: true } }).success).toBe(true)
    expect(RunEvent.safeParse({ ...failed, error }).success).toBe(false)
  })
})

describe('Metrics', () => {
  it('hold finite numbers alone (CON-3)', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, '1', null]) {
      expect(Metrics.safeParse({ loss: value }).success).toBe(false)
    }
    expect(Metrics.parse({ loss: Number.MAX_VALUE })).toEqual({ loss: Number.MAX_VALUE })
  })

  it('cannot reach the prototype of the object that holds them (CON-3)', () => {
    const metrics = Metrics.parse(JSON.parse('{"__proto__": 1, "loss": 2}'))
    expect(Object.entries(metrics)).toEqual([['loss', 2]])
    expect(Object.getPrototypeOf(metrics)).toBe(Object.prototype)
  })
})
