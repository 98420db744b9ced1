import { describe, expect, it } from 'vitest'
import { pageSize } from '../../../src/engine/cpu/ops.ts'
import type { Bench } from './bench.ts'

type Shape = { lengths: number[]; heads: number; kvHeads: number; headDim: number }

// Around the edges of blocks of keys (64) and of queries (128); groups of heads, odd and large heads, texts of no length.
const shapes: Shape[] = [
  { lengths: [1], heads: 1, kvHeads: 1, headDim: 2 },
  { lengths: [5, 0, 3], heads: 4, kvHeads: 2, headDim: 6 },
  { lengths: [63, 64, 65], heads: 2, kvHeads: 1, headDim: 8 },
  { lengths: [127, 1, 130], heads: 3, kvHeads: 3, headDim: 20 },
  { lengths: [200], heads: 6, kvHeads: 2, headDim: 33 },
  { lengths: [90], heads: 1, kvHeads: 1, headDim: 256 },
]
const name = ({ lengths, heads, kvHeads, headDim }: Shape) => `${lengths}; ${heads}/${kvHeads} heads of ${headDim}`
const named = shapes.map((shape) => [name(shape), shape] as const)

function place(on: Bench, { lengths, heads, kvHeads, headDim }: Shape, gap: number) {
  const starts = [0]
  for (const length of lengths) starts.push((starts.at(-1) ?? 0) + length)
  const rows = starts.at(-1) ?? 0
  const [ldq, ldk] = [heads * headDim + gap, kvHeads * headDim + gap]
  const common = { heads, kvHeads, headDim, scale: 2 / Math.sqrt(headDim), ldq, ldk, ldv: ldk }
  return {
    rows,
    ...{ ...common, starts: on.i32(starts), segments: lengths.length },
    ...{ q: on.random(rows * ldq), k: on.random(rows * ldk), v: on.random(rows * ldk) },
    ...{ out: on.empty(rows * heads * headDim), lse: on.empty(rows * heads) },
  }
}

/** What holds on every build of the kernels. */
export function describeAttention(bench: () => Bench): void {
  describe('attention', () => {
    it.each(named)('reads what came before, text by text: %s (CPU-2)', (_name, shape) => {
      for (const gap of [0, 5]) {
        using on = bench()
        on.program.add('attention', place(on, shape, gap))
        on.compare()
      }
    })

    it.each(named)('has the gradients of its inputs: %s (CPU-2)', (_name, shape) => {
      using on = bench()
      const { rows, ...args } = place(on, shape, 3)
      const [wide, narrow] = [rows * shape.heads * shape.headDim, rows * shape.kvHeads * shape.headDim]
      on.program.add('attention', args).add('attentionBack', {
        ...args,
        ...{ dq: on.empty(wide), dk: on.empty(narrow), dv: on.empty(narrow), dOut: on.random(wide) },
        work: on.scratch(4 * rows * shape.heads),
      })
      on.compare(2e-5)
    })

    it('gives a text the same bits alone, in a batch, and from a cache, row by row or many at once (CPU-3)', () => {
      using on = bench()
      const shape = { heads: 4, kvHeads: 2, headDim: 16 }
      const lengths = [70, 150, 9]
      const { rows, ...args } = place(on, { ...shape, lengths }, 0)
      const width = shape.kvHeads * shape.headDim
      on.program.add('attention', args)
      on.run()
      const batch = on.read(args.out, rows * 64)

      // Pages in any order; what lies behind the end of a text is never read.
      const pages = [4, 0, 5, 1, 2, 3]
      const first = [0, 2, 5]
      const [kCache, vCache] = [on.empty(6 * pageSize * width), on.empty(6 * pageSize * width)]
      const texts = lengths.flatMap((length, s) => Array.from({ length }, (_, t) => ({ s, t })))
      const slots = on.i32(
        texts.map(({ s, t }) => (pages[(first[s] ?? 0) + Math.floor(t / pageSize)] ?? 0) * pageSize + (t % pageSize)),
      )
      const table = lengths.flatMap((_, s) => [0, 1, 2].map((page) => pages[(first[s] ?? 0) + page] ?? 0))
      const { kvHeads, headDim } = shape
      on.program.add('cacheRows', { kCache, vCache, k: args.k, v: args.v, slots, rows, kvHeads, headDim })
      const cached = on.empty(rows * 64)
      const cache = { kCache, vCache, pages: on.i32(table), ldPages: 3, ...shape, scale: args.scale }
      const [sequences, seen] = [on.i32(texts.map(({ s }) => s)), on.i32(texts.map(({ t }) => t + 1))]
      on.program.add('cacheAttention', { ...cache, out: cached, q: args.q, sequences, lengths: seen, rows })
      on.run()
      expect(on.read(cached, rows * 64)).toEqual(batch)

      const one = on.empty(64)
      for (const row of [0, 63, 69, 70, 133, 134, 219, 228]) {
        const at = { sequences: sequences + 4 * row, lengths: seen + 4 * row, q: args.q + 4 * row * 64 }
        on.program.add('cacheAttention', { ...cache, ...at, out: one, rows: 1 })
        on.run()
        expect(on.read(one, 64)).toEqual(batch.slice(row * 64, (row + 1) * 64))
      }
    })

    it.each([
      ['one head', { heads: 1, kvHeads: 1, headDim: 3 }],
      ['a group', { heads: 6, kvHeads: 2, headDim: 16 }],
      ['a large group', { heads: 13, kvHeads: 1, headDim: 64 }],
    ])('reads a cache that rows were written to: %s (CPU-2)', (_name, shape) => {
      using on = bench()
      const { heads, kvHeads, headDim } = shape
      const [lengths, table] = [
        [67, 5, 128],
        [2, 0, 4, 4, 1, 3],
      ]
      const size = 5 * pageSize * kvHeads * headDim
      const [kCache, vCache] = [on.random(size), on.random(size)]
      const slots = on.i32([2, 4 * pageSize + 4, -1, 3 * pageSize + 63])
      const [k, v] = [on.random(4 * kvHeads * headDim), on.random(4 * kvHeads * headDim)]
      on.program.add('cacheRows', { kCache, vCache, k, v, slots, rows: 4, kvHeads, headDim })
      on.program.add('cacheAttention', {
        ...{ ...shape, kCache, vCache, rows: 3, ldPages: 2, scale: 1 / Math.sqrt(headDim) },
        ...{ out: on.empty(3 * heads * headDim), q: on.random(3 * heads * headDim), pages: on.i32(table ?? []) },
        ...{ sequences: on.i32([0, 1, 2]), lengths: on.i32(lengths ?? []) },
      })
      on.compare(1e-5)
    })

    it.each([
      ['heads of their own', { heads: 3, kvHeads: 3, headDim: 64 }],
      ['a narrow head', { heads: 2, kvHeads: 2, headDim: 20 }],
      ['a group', { heads: 6, kvHeads: 2, headDim: 16 }],
    ])('writes rows on the way, with every bit of writing them before: %s (CPU-2)', (_name, shape) => {
      using on = bench()
      const { heads, kvHeads, headDim } = shape
      const size = 7 * pageSize * kvHeads * headDim
      const [kCache, vCache, q] = [on.random(size), on.random(size), on.random(5 * heads * headDim)]
      const slots = on.i32([2 * pageSize, 4 * pageSize + 4, 3 * pageSize + 63, 6 * pageSize + 15, -1])
      const [k, v] = [on.random(5 * kvHeads * headDim), on.random(5 * kvHeads * headDim)]
      const read = {
        ...{ ...shape, kCache, vCache, q, rows: 5, ldPages: 2, scale: 1 / Math.sqrt(headDim) },
        ...{ pages: on.i32([0, 2, 4, 4, 1, 3, 5, 6, 0, 0]), sequences: on.i32([0, 1, 2, 3, 4]) },
        lengths: on.i32([65, 5, 128, 80, 17]),
      }
      const [before, onTheWay] = [on.empty(5 * heads * headDim), on.empty(5 * heads * headDim)]
      const [keys, values] = [on.read(kCache, size), on.read(vCache, size)]
      on.program.add('cacheRows', { kCache, vCache, k, v, slots, rows: 5, kvHeads, headDim })
      on.program.add('cacheAttention', { ...read, out: before })
      on.run()
      const [writtenKeys, writtenValues] = [on.read(kCache, size), on.read(vCache, size)]
      on.write(kCache, keys)
      on.write(vCache, values)
      on.program.add('cacheAttention', { ...read, k, v, slots, out: onTheWay })
      on.run()
      expect(on.read(onTheWay, 5 * heads * headDim)).toEqual(on.read(before, 5 * heads * headDim))
      expect([on.read(kCache, size), on.read(vCache, size)]).toEqual([writtenKeys, writtenValues])
    })

    it('stays exact where scores are large (CPU-2)', () => {
      using on = bench()
      const { rows: _rows, ...args } = place(on, { lengths: [100], heads: 2, kvHeads: 1, headDim: 4 }, 0)
      on.program.add('attention', { ...args, scale: 300 })
      on.compare(2e-4) // float32 has five digits left of a score of 1000
    })

    it('refuses shapes that it cannot compute (CPU-6)', () => {
      using on = bench()
      const { rows: _rows, ...args } = place(on, { lengths: [2], heads: 3, kvHeads: 1, headDim: 4 }, 0)
      on.program.add('attention', { ...args, kvHeads: 2 })
      expect(() => on.run()).toThrow('the shape is not supported')
    })
  })
}
