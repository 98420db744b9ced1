import { describe, expect, it } from 'vitest'
import { ops } from './ops.ts'
import { independentBit, Program } from './program.ts'

describe('Program', () => {
  it('writes opcodes and arguments in the order of the table (CPU-4)', () => {
    const program = new Program()
      .add('add', { y: 64, x: 128, n: 3, alpha: 0.5 }, { independent: true })
      .add('convert', { y: 64, x: 128, n: 3, yType: 'bf16' })
    const half = new Int32Array(new Float32Array([0.5]).buffer)[0]
    expect([...program.words]).toEqual([
      ops.add.code | independentBit,
      16,
      32,
      3,
      half,
      ops.convert.code,
      16,
      32,
      3,
      1,
      0,
    ])
    program.clear()
    expect(program.words).toHaveLength(0)
  })

  it('grows, and reaches places far behind 4 GiB (CPU-4)', () => {
    const program = new Program()
    for (let i = 0; i < 1000; i++) program.add('fill', { y: 2 ** 34 - 4, n: i, value: i })
    expect(program.words).toHaveLength(4000)
    expect((program.words[3997] ?? 0) >>> 0).toBe(2 ** 32 - 1)
  })

  it.each([
    ['no place', { y: 0, n: 1, value: 0 }],
    ['a place between words', { y: 65, n: 1, value: 0 }],
    ['a place that cannot be reached', { y: 2 ** 34, n: 1, value: 0 }],
    ['a part of an element', { y: 64, n: 1.5, value: 0 }],
    ['a negative size', { y: 64, n: -1, value: 0 }],
    ['a size that is too large', { y: 64, n: 2 ** 31, value: 0 }],
    ['what is not a number', { y: 64, n: 1, value: Number.NaN }],
  ])('refuses %s (CPU-4)', (_what, args) => {
    expect(() => new Program().add('fill', args)).toThrow(/fill\.(y|n|value) of an engine program is/)
  })

  it('has no opcode twice, and none that would reach the flag (CPU-4)', () => {
    const codes = Object.values(ops).map(({ code }) => code)
    expect(new Set(codes).size).toBe(codes.length)
    expect(Math.max(...codes)).toBeLessThan(independentBit)
  })
})
