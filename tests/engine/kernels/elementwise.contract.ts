import { describe, expect, it } from 'vitest'
import type { Bench } from './bench.ts'

const sizes = [1, 15, 16, 17, 100, 1000]

/** What holds on every build of the kernels. */
export function describeElementwise(bench: () => Bench): void {
  describe('operations on elements', () => {
    it.each(sizes)('gate %i elements, and have the gradient, also in place (CPU-2)', (n) => {
      using on = bench()
      const [gate, up, dy] = [on.random(n), on.random(n), on.random(n)]
      on.program
        .add('swiglu', { y: on.empty(n), gate, up, n })
        .add('swigluBack', { dGate: on.empty(n), dUp: on.empty(n), dy, gate, up, n })
        .add('swigluBack', { dGate: gate, dUp: up, dy, gate, up, n })
      on.compare()
    })

    it('gate values of every size (CPU-2)', () => {
      using on = bench()
      const values = [-1e30, -1000, -100, -88, -87, -20, -1e-6, -0, 0, 1e-6, 20, 87, 88, 100, 1000, 1e30]
      const [gate, up] = [on.f32(values), on.f32(values.map(() => 1))]
      const y = on.scratch(4 * values.length)
      on.program.add('swiglu', { y, gate, up, n: values.length })
      on.run()
      for (const [i, value] of on.read(y, values.length).entries()) {
        const x = Math.fround(values[i] ?? 0)
        const want = x / (1 + Math.exp(-x))
        expect(Math.abs(value - want)).toBeLessThanOrEqual(1e-6 * Math.abs(want) + 1e-30)
      }
    })

    it.each(sizes)('add, scale, fill and convert %i elements (CPU-2)', (n) => {
      using on = bench()
      const [x, y] = [on.random(n), on.random(n)]
      const half = on.bf16(n)
      on.program
        .add('add', { y, x, n, alpha: -0.3 })
        .add('scale', { y: on.random(n), n, alpha: 1.7 })
        .add('fill', { y: on.empty(n), n, value: -2.5 })
        .add('convert', { y: on.bf16(n), x, n, yType: 'bf16' })
        .add('convert', { y: on.empty(n), x: half, n, xType: 'bf16' })
        .add('convert', { y: on.empty(n), x, n })
        .add('convert', { y: on.bf16(n), x: half, n, xType: 'bf16', yType: 'bf16' })
      on.compare(1e-7)
    })

    it('round to bfloat16 as everybody does: ties to even, no value lost (CPU-2)', () => {
      using on = bench()
      const ties = [1.00390625, 1.01171875, -1.00390625, 3.3895314e38, 1e-40, Number.POSITIVE_INFINITY, Number.NaN]
      on.program.add('convert', { y: on.bf16(ties.length), x: on.f32(ties), n: ties.length, yType: 'bf16' })
      on.compare()
    })

    it.each(sizes)('sum the squares of %i elements (CPU-2)', (n) => {
      using on = bench()
      on.program
        .add('sumSquares', { sum: on.f64([5]), x: on.random(n), n })
        .add('sumSquares', { sum: on.f64([5]), x: on.random(n), n, accumulate: true })
      on.compare()
    })

    it.each(sizes)('take a step of AdamW with %i parameters (CPU-2)', (n) => {
      using on = bench()
      const state = {
        p: on.random(n),
        g: on.random(n),
        m: on.random(n),
        v: on.f32(Array.from({ length: n }, (_, i) => i / n)),
      }
      const betas = { beta1: 0.9, rest1: 0.1, beta2: 0.999, rest2: 0.001 }
      const factors = { gradScale: 0.5, rate: 1e-2, secondScale: 1.3, eps: 1e-8, decay: 1e-4 }
      on.program.add('adamw', { ...state, n, ...betas, ...factors })
      on.compare()
    })

    it('of independent lists may overlap in time (CPU-2)', () => {
      using on = bench()
      for (let i = 0; i < 20; i++) {
        on.program.add('scale', { y: on.random(500), n: 500, alpha: 2 }, { independent: true })
      }
      on.program.add('fill', { y: on.empty(3), n: 3, value: 1 })
      on.compare(0)
    })
  })
}
