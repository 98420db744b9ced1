import { describe, expect, it } from 'vitest'
import type { OpArgs, OpName } from '../../../src/engine/cpu/ops.ts'
import type { Bench } from './bench.ts'

const far = 2 ** 33
const heads = { heads: 2, kvHeads: 1, headDim: 8, scale: 1, ldq: 16, ldk: 8, ldv: 8 }

// One operation each, of which one thing is wrong. `x` is a tensor of 256 numbers, `ids` of small ones, `wild` has one of 2^30.
type Places = { x: number; y: number; ids: number; wild: number; falling: number }
const bad: { [N in OpName]?: (at: Places) => OpArgs<N>[] } = {
  gemm: ({ x, y }) => {
    const fits = { c: y, a: x, b: x, m: 4, n: 4, k: 4, lda: 4, ldb: 4, ldc: 4, alpha: 1 }
    const sizes = [{ m: 2 ** 30 }, { n: 2 ** 30 }, { k: 2 ** 30 }, { lda: 2 ** 30 }, { ldb: 2 ** 30 }, { ldc: 2 ** 30 }]
    return [...[{ a: far }, { b: far }, { c: far }], ...sizes].map((wrong) => ({ ...fits, ...wrong }))
  },
  pack: ({ x }) => [{ dst: far, b: x, n: 4, k: 4, ldb: 4 }],
  gemmPacked: ({ x, y }) => [{ c: y, a: x, b: far, m: 4, n: 4, k: 4, lda: 4, ldc: 4, alpha: 1 }],
  rmsNorm: ({ x, y }) => [
    { y, x, w: x, scale: far, rows: 4, width: 4, eps: 1 },
    { y, x, w: far, rows: 4, width: 4, eps: 1 },
  ],
  rope: ({ x, ids, wild, falling }) =>
    [wild, falling].map((positions) => ({ x, positions, cos: ids, sin: ids, rows: 4, heads: 1, headDim: 4, ldx: 4 })),
  attention: ({ x, y, wild, falling }) =>
    [wild, falling].map((starts) => ({ out: y, lse: y, q: x, k: x, v: x, starts, segments: 2, ...heads })),
  attentionBack: ({ x, y, ids }) => [
    { ...heads, dq: far, dk: y, dv: y, dOut: x, out: x, lse: x, q: x, k: x, v: x, work: y, starts: ids, segments: 1 },
  ],
  cacheAttention: ({ x, y, ids, wild, falling }) => {
    const fits = { out: y, q: x, kCache: x, vCache: x, pages: ids, sequences: ids, lengths: ids, rows: 2, ldPages: 1 }
    const wrong = [
      { pages: wild },
      { sequences: wild },
      { lengths: wild },
      { lengths: falling },
      { sequences: falling },
      { k: x, v: x, slots: wild },
    ]
    return wrong.map((each) => ({ ...fits, heads: 1, kvHeads: 1, headDim: 2, scale: 1, ...each }))
  },
  swiglu: ({ x, y }) => [{ y, gate: x, up: far, n: 4 }],
  swigluBack: ({ x, y }) => [{ dGate: far, dUp: y, dy: x, gate: x, up: x, n: 4 }],
  addBias: ({ y }) => [{ y, b: far, rows: 1, width: 4 }],
  biasBack: ({ x }) => [{ db: far, dy: x, rows: 1, width: 4 }],
  gatherRows: ({ x, y, wild }) => [
    { y, table: x, ids: wild, rows: 4, width: 1 },
    { y, table: x, ids: far, rows: 4, width: 1 },
  ],
  cacheRows: ({ x, y, wild }) => [{ kCache: y, vCache: y, k: x, v: x, slots: wild, rows: 4, kvHeads: 1, headDim: 1 }],
  scatterAddRows: ({ x, y, wild }) => [{ y, x, ids: wild, rows: 4, width: 1 }],
  head: ({ x, y, ids }) => [
    { logprobs: y, lse: y, x, w: x, ids, work: x, rows: 2, targets: 1, width: 4, vocab: 2 ** 30, rank: 0 },
    { logprobs: y, lse: y, x, w: x, ids, work: far, rows: 2, targets: 1, width: 4, vocab: 4, rank: 0 },
    { logprobs: y, lse: y, x, w: x, ids, work: x, rows: 0, targets: 1, width: 4, vocab: 4, rank: 3 },
  ],
  logSumExp: ({ x }) => [{ lse: far, x, rows: 2, width: 4, ldx: 4 }],
  add: ({ x }) => [{ y: far, x, n: 4, alpha: 1 }],
  scale: () => [{ y: far, n: 4, alpha: 1 }],
  fill: ({ y }) => [
    { y: far, n: 4, value: 1 },
    { y, n: 2 ** 31 - 1, value: 1 },
    { y: 4, n: 1, value: 1 },
  ],
  copyRows: ({ x, y }) => [{ y, x, rows: 2, width: 4, ldy: 4, ldx: 2 ** 31 - 1 }],
  convert: ({ x }) => [{ y: far, x, n: 4, yType: 'bf16' }],
  sumSquares: ({ x, y }) => [{ sum: y + 4, x, n: 4 }],
  adamw: ({ x, y }) => {
    const factors = { gradScale: 1, beta1: 0, rest1: 0, beta2: 0, rest2: 0, rate: 1, secondScale: 1, eps: 1, decay: 0 }
    return [{ p: y, g: x, m: y, v: far, n: 4, ...factors }]
  },
}

/** What holds on every build of the kernels. */
export function describeRefusals(bench: () => Bench): void {
  describe('a program that would leave the memory', () => {
    it.each(Object.keys(bad) as OpName[])('is refused before any of it runs: %s (CPU-6)', (name) => {
      using on = bench()
      const x = on.random(256)
      const y = on.f32(new Array(256).fill(1))
      const places = {
        ...{ x, y, ids: on.i32([0, 1, 2, 1]) },
        ...{ wild: on.i32([0, 1, 2 ** 30, 2]), falling: on.i32([3, -1, -2, 2]) },
      }
      for (const args of bad[name]?.(places) ?? []) {
        on.program.add('fill', { y, n: 256, value: 2 }).add(name, args)
        expect(() => on.run(), JSON.stringify(args)).toThrow(`outside the memory (${name})`)
        on.program.clear()
      }
      expect(on.read(y, 256).every((value) => value === 1)).toBe(true)
    })
  })
}
