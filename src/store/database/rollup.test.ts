import { describe, expect, it } from 'vitest'
import { rangesOf } from './rollup.ts'

const point = (runIx: number, keyIx: number, step: number) => ({ runIx, keyIx, step, value: 0, atMs: 0 })

describe('rangesOf', () => {
  it('joins steps whose buckets meet, and no others (STO-5)', () => {
    const points = [point(1, 1, 0), point(1, 1, 31), point(1, 1, 32), point(1, 1, 96), point(1, 2, 97), point(2, 2, 97)]
    expect(rangesOf(points)).toEqual([
      { runIx: 1, keyIx: 1, first: 0, last: 32 },
      { runIx: 1, keyIx: 1, first: 96, last: 96 },
      { runIx: 1, keyIx: 2, first: 97, last: 97 },
      { runIx: 2, keyIx: 2, first: 97, last: 97 },
    ])
    expect(rangesOf([])).toEqual([])
  })
})
