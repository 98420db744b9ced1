import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pluginContext } from '../../../tests/plugin-context.ts'
import { scaled } from '../../../tests/scale.ts'
import { markedAnswer } from './final-answer.ts'
import { numeric, readNumbers } from './numeric.ts'

async function reward(output: string, expected: unknown, params: object = {}): Promise<number> {
  const result = await numeric.verify({ output, expected }, pluginContext(numeric, params))
  return typeof result === 'number' ? result : result.reward
}

describe('the final answer', () => {
  it.each([
    ['so \\boxed{1}, no: \\boxed{\\frac{1}{2}}', '\\frac{1}{2}'],
    ['<answer>1</answer> or <answer> 2 </answer>', '2'],
    ['3 apples\n#### 12\n', '12'],
    ['The answer is 5.\nThe final answer is: 7', '7'],
    ['Answer: 9', '9'],
    ['\\boxed{open', undefined],
    ['nothing marked', undefined],
    ['\\boxed{1} and then the answer is 2', '1'],
  ])('of %j is %j (EVL-1)', (text, answer) => {
    expect(markedAnswer(text)).toBe(answer)
  })
})

describe('numbers in a text', () => {
  it.each([
    ['1,234,567.5 m', [1_234_567.5]],
    ['-3/4 and +2', [-0.75, 2]],
    ['6.02e23', [6.02e23]],
    ['6.02 × 10^23', [6.02e23]],
    ['1.5 \\times 10^{-3}', [0.0015]],
    ['$1,200', [1200]],
    ['−5 °C', [-5]],
    ['.5', [0.5]],
    ['1,2,3', [1, 2, 3]],
    ['x1 v2.0 abc', []],
    ['7.', [7]],
  ])('%j: %j (EVL-1)', (text, values) => {
    expect(readNumbers(text).map(({ value }) => value)).toEqual(values)
  })

  it('are read back as they were written (EVL-1)', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }), (value) => {
        // Written as text, -0 is 0.
        const written = value === 0 ? 0 : value
        expect(readNumbers(`about ${value} of them`).map((each) => each.value)).toEqual([written])
      }),
      { numRuns: scaled(200) },
    )
  })
})

describe('numeric', () => {
  it.each([
    ['I think 3, then 42.', 42, {}, 1],
    ['42 is my answer, not 41', 42, {}, 0],
    ['The answer is 42', '42', {}, 1],
    ['\\boxed{41 or 42}', 42, {}, 0],
    ['#### 1,234', 1234, {}, 1],
    ['0.3333', 1 / 3, {}, 0],
    ['0.3333', 1 / 3, { rel_tolerance: 0.001 }, 1],
    ['1/3', 1 / 3, {}, 1],
    ['10.4', 10, { abs_tolerance: 0.5 }, 1],
    ['10.6', 10, { abs_tolerance: 0.5 }, 0],
    ['<answer>3 km</answer>', 3000, { units: { m: 1, km: 1000 } }, 1],
    ['<answer>3 miles</answer>', 3, { units: { m: 1 } }, 0],
    ['<answer>3 miles</answer>', 3, {}, 1],
    ['40%', 0.4, { percent: 'fraction' }, 1],
    ['40%', '40%', {}, 1],
    ['no number here', 1, {}, 0],
    ['', 0, {}, 0],
  ])('%j against %j with %j: %d (EVL-1)', async (output, expected, params, value) => {
    expect(await reward(output, expected, params)).toBe(value)
  })

  it('tells of a task that expects no number (PLG-8)', async () => {
    for (const expected of [undefined, null, 'none', '1 or 2', Number.NaN, [1]]) {
      await expect(async () => await reward('1', expected)).rejects.toThrow('expects no single number')
    }
  })

  it('has a reward for any text (PLG-8)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary' }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        async (text, n) => {
          expect([0, 1]).toContain(await reward(text, n))
        },
      ),
      { numRuns: scaled(200) },
    )
    expect(await reward('1,'.repeat(200_000), 1)).toBe(1)
    expect(await reward('-+$'.repeat(200_000), 1)).toBe(0)
  })
})
