import { describe, expect, it } from 'vitest'
import { type ElementType, headWork, massBlock } from '../../../src/engine/cpu/ops.ts'
import type { Bench } from './bench.ts'

type Shape = { rows: number; targets: number; width: number; vocab: number; rank: number; wType: ElementType }

// Vocabularies around the columns that are held at once.
const shapes: Shape[] = [
  { rows: 1, targets: 1, width: 3, vocab: 2, rank: 0, wType: 'f32' },
  { rows: 7, targets: 3, width: 17, vocab: 65, rank: 0, wType: 'bf16' },
  { rows: 5, targets: 1, width: 8, vocab: 2048, rank: 4, wType: 'f32' },
  { rows: 13, targets: 2, width: 9, vocab: 2049, rank: 1, wType: 'bf16' },
  { rows: 33, targets: 1, width: 20, vocab: 4500, rank: 0, wType: 'f32' },
]

function place(on: Bench, shape: Shape) {
  const { rows, targets, width, vocab, rank, wType } = shape
  const ids = Array.from({ length: rows * targets }, (_, i) => (i % 5 === 4 ? -1 : (i * 1013 + 1) % vocab))
  return {
    ...shape,
    ids: on.i32(ids),
    x: on.random(rows * width),
    w: wType === 'f32' ? on.random(vocab * width) : on.bf16(vocab * width),
    x2: rank > 0 ? on.random(rows * rank) : undefined,
    w2: rank > 0 ? on.random(vocab * rank) : undefined,
    lse: on.empty(rows),
    logprobs: on.empty(rows * targets),
    work: on.scratch(4 * headWork(rows, vocab, true)),
  }
}

const named = shapes.map((shape) => [Object.values(shape).join(' '), shape] as const)

/** What holds on every build of the kernels. */
export function describeHead(bench: () => Bench): void {
  describe('the head', () => {
    it.each(named)('has the log-probabilities of targets and the gradient: %s (CPU-2)', (_name, shape) => {
      using on = bench()
      const { rows, targets, width, vocab, rank } = shape
      const args = place(on, shape)
      const forLow = rank > 0 ? { dx2: on.empty(rows * rank), dw2: on.random(vocab * rank) } : {}
      on.program
        .add('head', args)
        .add('headBack', {
          ...args,
          ...forLow,
          ...{ dx: on.empty(rows * width), dw: on.random(vocab * width), g: on.random(rows * targets) },
          kept: true,
        })
        .add('headBack', { ...args, dx: on.empty(rows * width), g: on.random(rows * targets) })
      on.compare(1e-5)
    })

    it.each(named)('has the same gradient, to the bit, from logits that stayed: %s (CPU-3)', (_name, shape) => {
      using on = bench()
      const { rows, targets, width, vocab } = shape
      const args = { ...place(on, shape), g: on.random(rows * targets) }
      const gradients = [false, true].map((whole) => {
        const [dx, dw] = [on.empty(rows * width), on.f32(new Float32Array(vocab * width))]
        on.program.add('head', { ...args, whole }).add('headBack', { ...args, dx, dw, kept: true, whole })
        on.run()
        return [on.read(dx, rows * width), on.read(dw, vocab * width)]
      })
      expect(gradients[1]).toEqual(gradients[0])
    })

    it('has the bits that sampling sees: logits of a row alone and their sum (CPU-3)', () => {
      using on = bench()
      const shape: Shape = { rows: 40, targets: 1, width: 30, vocab: 4100, rank: 0, wType: 'f32' }
      const { x, w, lse, ...args } = place(on, shape)
      const { width, vocab } = shape
      on.program.add('head', { ...args, x, w, lse })
      on.run()
      const all = on.read(lse, 40)
      const [logits, sum] = [on.empty(vocab), on.empty(1)]
      for (const row of [0, 17, 39]) {
        on.program
          .add('gemm', {
            c: logits,
            a: x + 4 * row * width,
            b: w,
            m: 1,
            n: vocab,
            k: width,
            lda: width,
            ldb: width,
            ldc: vocab,
            transB: true,
            alpha: 1,
          })
          .add('logSumExp', { lse: sum, x: logits, rows: 1, width: vocab, ldx: vocab })
        on.run()
        expect(on.read(sum, 1)[0]).toBe(all[row])
      }
    })

    it('sums exponentials of rows of any width, and tells the shares of blocks (CPU-2)', () => {
      using on = bench()
      for (const width of [1, 5, 16, 100, 5000]) {
        const x = on.f32(Float32Array.from({ length: 3 * (width + 2) }, (_, i) => Math.sin(i) + i / 900))
        const masses = on.empty(3 * Math.ceil(width / massBlock))
        const size = { rows: 3, width, ldx: width + 2 }
        on.program.add('logSumExp', { lse: on.empty(3), x, ...size })
        on.program.add('logSumExp', { lse: on.empty(3), masses, x, ...size })
      }
      on.compare(2e-6)
    })
  })
}
