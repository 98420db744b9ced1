import { describe, expect, it } from 'vitest'
import { type ElementType, packedBytes } from '../../../src/engine/cpu/ops.ts'
import type { Bench } from './bench.ts'

// Around every edge: of tiles (4 to 12 rows, 8 to 32 columns), of blocks (256 deep, 1024 columns), and nothing at all.
const shapes: [m: number, n: number, k: number][] = [
  [1, 1, 1],
  [1, 37, 19],
  [2, 64, 300],
  [5, 7, 3],
  [13, 33, 65],
  [37, 16, 129],
  [70, 1, 40],
  [97, 64, 17],
  [131, 40, 257],
  [3, 1060, 9],
  [20, 1100, 30],
  [0, 5, 5],
  [5, 0, 5],
  [6, 9, 0],
]
const flags = [false, true]

/** What holds on every build of the kernels. */
export function describeProducts(bench: () => Bench): void {
  describe('gemm', () => {
    it.each(shapes)('multiplies %i x %i over %i in every layout (CPU-2)', (m, n, k) => {
      for (const transA of flags)
        for (const transB of flags) {
          using on = bench() // one program for several products: under the sanitizers each one is a process
          for (const bType of ['f32', 'bf16'] satisfies ElementType[])
            for (const [accumulate, alpha] of [
              [false, 1],
              [true, 1],
              [true, -0.75],
            ] as const) {
              const [lda, ldb, ldc] = [(transA ? m : k) + 3, (transB ? k : n) + 1, n + 2]
              const sizeB = (transB ? n : k) * ldb
              on.program.add('gemm', {
                a: on.random((transA ? k : m) * lda),
                b: bType === 'f32' ? on.random(sizeB) : on.bf16(sizeB),
                c: on.random(m * ldc),
                ...{ m, n, k, lda, ldb, ldc, transA, transB, bType, accumulate, alpha },
              })
            }
          on.compare()
        }
    })

    it.each(shapes)('has the same bits with a packed operand: %i x %i over %i (CPU-3)', (m, n, k) => {
      for (const bType of ['f32', 'bf16'] satisfies ElementType[]) {
        using on = bench()
        const pairs: [number, number][] = []
        for (const transB of flags)
          for (const alpha of [1, 0.5]) {
            const ldb = transB ? k : n
            const [a, b] = [on.random(m * k), bType === 'f32' ? on.random(n * k) : on.bf16(n * k)]
            const [c, packed, cPacked] = [on.random(m * n), on.scratch(packedBytes(n, k, bType)), on.empty(m * n)]
            on.program
              .add('copyRows', { y: cPacked, x: c, rows: m, width: n, ldx: n, ldy: n })
              .add('pack', { dst: packed, b, n, k, ldb, transB, bType })
              .add('gemmPacked', { c: cPacked, a, b: packed, m, n, k, lda: k, ldc: n, bType, accumulate: true, alpha })
              .add('gemm', { c, a, b, m, n, k, lda: k, ldb, ldc: n, transB, bType, accumulate: true, alpha })
            pairs.push([c, cPacked])
          }
        on.run()
        for (const [c, cPacked] of pairs) expect(on.bytes(cPacked, 4 * m * n)).toEqual(on.bytes(c, 4 * m * n))
      }
    })

    it('gives a row the same bits alone and among others (CPU-3)', () => {
      using on = bench()
      const [m, n, k] = [150, 70, 300]
      const [a, b, all, alone] = [on.random(m * k), on.random(n * k), on.empty(m * n), on.empty(n)]
      const shape = { n, k, lda: k, ldb: k, ldc: n, transB: true, alpha: 1 }
      on.program.add('gemm', { ...shape, c: all, a, b, m })
      on.run()
      for (const row of [0, 1, 77, 149]) {
        on.program.add('gemm', { ...shape, c: alone, a: a + 4 * row * k, b, m: 1 })
        on.run()
        expect(on.read(alone, n)).toEqual(on.read(all + 4 * row * n, n))
      }
    })

    it('lets what is not a number through (CPU-2)', () => {
      using on = bench()
      const values = [1, Number.NaN, 2, Number.POSITIVE_INFINITY, 3, 4]
      const shape = { m: 3, n: 2, k: 2, lda: 2, ldb: 2, ldc: 2, alpha: 1 }
      on.program.add('gemm', { ...shape, a: on.f32(values), b: on.f32([1, 2, 3, 4]), c: on.empty(6) })
      on.compare()
    })
  })
}
