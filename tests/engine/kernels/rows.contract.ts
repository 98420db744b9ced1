import { describe, expect, it } from 'vitest'
import type { Bench } from './bench.ts'

const widths = [2, 3, 16, 37, 130]
const rows = 11

/** What holds on every build of the kernels. */
export function describeRows(bench: () => Bench): void {
  describe('operations on rows', () => {
    it.each(widths)('normalise rows of %i, and have the gradient (CPU-2)', (width) => {
      for (const accumulate of [false, true])
        for (const hasWeight of [false, true]) {
          using on = bench()
          const size = rows * width
          const [x, w, scale] = [on.random(size), on.random(width), on.empty(rows)]
          const dw = hasWeight ? on.random(width) : undefined
          on.program
            .add('rmsNorm', { y: on.empty(size), scale, x, w, rows, width, eps: 1e-5 })
            .add('rmsNorm', { y: on.empty(size), x, w, rows, width, eps: 1e-5 })
            .add('rmsNormBack', { dx: on.random(size), dw, dy: on.random(size), x, w, scale, rows, width, accumulate })
          on.compare()
        }
    })

    it('have the gradient where it overwrites what it comes from (CPU-2)', () => {
      using on = bench()
      const [x, w, scale, dy] = [on.random(rows * 50), on.random(50), on.empty(rows), on.random(rows * 50)]
      const shape = { rows, width: 50 }
      on.program
        .add('rmsNorm', { ...shape, y: on.empty(rows * 50), scale, x, w, eps: 1e-6 })
        .add('rmsNormBack', { ...shape, dx: dy, dw: on.random(50), dy, x, w, scale })
      on.compare()
    })

    it.each([2, 6, 16, 64, 128])('turn heads of %i and back (CPU-2)', (headDim) => {
      using on = bench()
      const [heads, half] = [3, headDim / 2]
      const ldx = heads * headDim + 1
      const angles = Array.from({ length: 20 * half }, (_, i) => i)
      const [cos, sin] = [on.f32(angles.map(Math.cos)), on.f32(angles.map(Math.sin))]
      const positions = on.i32(Array.from({ length: rows }, (_, r) => (7 * r) % 20))
      const shape = { positions, cos, sin, rows, heads, headDim, ldx }
      on.program
        .add('rope', { ...shape, x: on.random(rows * ldx) })
        .add('rope', { ...shape, x: on.random(rows * ldx), inverse: true })
      on.compare()
    })

    it.each(widths)('add and sum biases of %i (CPU-2)', (width) => {
      using on = bench()
      on.program
        .add('addBias', { y: on.random(rows * width), b: on.random(width), rows, width })
        .add('biasBack', { db: on.random(width), dy: on.random(rows * width), rows, width })
      on.compare()
    })

    it.each(widths)('are found and added by number, %i wide (CPU-2)', (width) => {
      using on = bench()
      const repeated = on.i32([3, 0, -1, 5, 5, 3, 3, -7, 1, 2, 0])
      const x = on.random(rows * width)
      const shape = { rows, width }
      on.program
        .add('gatherRows', { ...shape, y: on.empty(rows * width), table: on.random(6 * width), ids: repeated })
        .add('gatherRows', {
          ...shape,
          y: on.empty(rows * width),
          table: on.bf16(6 * width),
          ids: repeated,
          type: 'bf16',
        })
        .add('scatterAddRows', { ...shape, y: on.random(6 * width), x, ids: repeated })
        .add('copyRows', { ...shape, y: on.random(rows * (width + 3)), x, ldy: width + 3, ldx: width })
      on.compare()
    })

    it('do nothing where there are none (CPU-2)', () => {
      using on = bench()
      const [a, b] = [on.random(8), on.random(8)]
      const none = { rows: 0, width: 4 }
      on.program
        .add('rmsNorm', { ...none, y: a, x: b, w: b, eps: 1 })
        .add('addBias', { ...none, y: a, b })
        .add('gatherRows', { ...none, y: a, table: b, ids: b })
        .add('fill', { y: a, n: 0, value: 1 })
      on.compare()
      expect(on.read(a, 8)).not.toContain(1)
    })
  })
}
