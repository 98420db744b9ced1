import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryOf } from '../../tests/arbitrary-of.ts'
import { ExperimentEvent, RunEvent } from './events.ts'
import { Item, PointBatch, Sha256 } from './record.ts'

const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const batch = {
  type: 'points',
  run_id: 'r',
  key: ['loss', 'lr'],
  step: [0, 0],
  value: [2.5, 1e-4],
  at_ms: [1_767_322_800_000, 1_767_322_800_000],
}

const point = fc.record({
  key: fc.string({ minLength: 1 }),
  step: fc.nat(),
  value: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0), // JSON has no -0
  at_ms: fc.nat(),
})
const points = fc.array(point).map((rows) => ({
  type: 'points',
  run_id: 'r',
  key: rows.map((row) => row.key),
  step: rows.map((row) => row.step),
  value: rows.map((row) => row.value),
  at_ms: rows.map((row) => row.at_ms),
}))

describe('a batch of points', () => {
  it('has columns of equal length (CON-3)', () => {
    expect(PointBatch.parse(batch)).toEqual(batch)
    for (const column of ['key', 'step', 'value', 'at_ms'] as const) {
      expect(PointBatch.safeParse({ ...batch, [column]: batch[column].slice(1) }).success, column).toBe(false)
    }
  })

  it.each([
    { ...batch, value: [2.5, Number.NaN] },
    { ...batch, step: [0, -1] },
    { ...batch, key: ['loss', ''] },
    { ...batch, run_id: '' },
    { ...batch, unit: 'nats' },
  ])('refuses %j (CON-3)', (wrong) => {
    expect(PointBatch.safeParse(wrong).success).toBe(false)
  })
})

describe('an item for the record', () => {
  it.each([
    ['event of a run', arbitraryOf(RunEvent).map((event) => RunEvent.parse(event))],
    ['event of an experiment', arbitraryOf(ExperimentEvent).map((event) => ExperimentEvent.parse(event))],
    ['batch of points', points],
  ])('is recognised for what it is: %s (CON-3)', (_name, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, (item) => {
        expect(Item.parse(throughJson(item))).toStrictEqual(item)
      }),
    )
  })

  it('is nothing else (CON-3)', () => {
    for (const wrong of [{}, { type: 'points' }, { type: 'notice', text: 'x', seq: 1 }, 'x', null, []]) {
      expect(Item.safeParse(wrong).success).toBe(false)
    }
  })
})

describe('Sha256', () => {
  it('is 64 hexadecimal digits in lower case (CON-3)', () => {
    const digest = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
    expect(Sha256.parse(digest)).toBe(digest)
    for (const wrong of [digest.toUpperCase(), digest.slice(1), `${digest}0`, `sha256:${digest}`, `${digest}\n`, '']) {
      expect(Sha256.safeParse(wrong).success, wrong).toBe(false)
    }
  })
})
