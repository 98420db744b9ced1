import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pluginContext } from '../../../tests/plugin-context.ts'
import { scaled } from '../../../tests/scale.ts'
import { isSameMath, math } from './math.ts'
import { parseMath } from './math-parser.ts'

async function reward(output: string, expected: unknown): Promise<number> {
  const result = await math.verify({ output, expected }, pluginContext(math))
  return typeof result === 'number' ? result : result.reward
}

describe('math', () => {
  it.each([
    ['\\frac{1}{2}', '0.5'],
    ['\\dfrac12', '1/2'],
    ['3\\frac{1}{2}', '7/2'],
    ['\\sqrt{8}', '2\\sqrt{2}'],
    ['\\sqrt[3]{27}', '3'],
    ['\\frac{1}{\\sqrt{2}}', '\\frac{\\sqrt2}{2}'],
    ['2^{10}', '1024'],
    ['2^{-1}', '0.5'],
    ['10^{-3}', '0.001'],
    ['1,234', '1234'],
    ['50\\%', '0.5'],
    ['(x+1)^2', 'x^2+2x+1'],
    ['(x-1)(x+1)', 'x^2 - 1'],
    ['\\frac{x^2-1}{x-1}', 'x+1'],
    ['2ab', 'b \\cdot a \\cdot 2'],
    ['\\sin^2(x)+\\cos^2 x', '1'],
    ['\\ln(e)', '1'],
    ['e^{2\\ln 3}', '9'],
    ['2\\pi r', '\\pi \\cdot 2r'],
    ['|{-3}|', '3'],
    ['x = 5', '5'],
    ['5', 'y=5'],
    ['x=3, x=-2', '-2, 3'],
    ['\\{1, 2, 3\\}', '\\{3,2,1\\}'],
    ['\\{2\\}', '2'],
    ['\\pm 2', '2, -2'],
    ['1 \\pm \\sqrt{2}', '1+\\sqrt2, 1-\\sqrt2'],
    ['(1, 2)', '(1.0, 4/2)'],
    ['[0, 1)', '[0,\\frac{2}{2})'],
    ['(-\\infty, 3]', '\\left(-\\infty, 3\\right]'],
    ['[1,2] \\cup (3, \\infty)', '(3,\\infty)\\cup[1,2]'],
    ['x \\in [0, 1)', '[0,1)'],
    ['x < 3', '3 > x'],
    ['y = 2x + 1', 'y - 1 = 2x'],
    ['90^\\circ', '90'],
    ['12\\text{ cm}', '12'],
    ['$\\frac{3}{4}$', '.75'],
    ['x_1 + x_2', 'x_{2}+x_{1}'],
    ['9^{1/2}', '3'],
    ['\\text{blue}', '\\text{blue}'],
    ['north-west', 'north-west'],
    ['100000000000000000000000000001', '100000000000000000000000000001'],
  ])('%s is %s (EVL-2)', async (given, expected) => {
    expect(await reward(`so \\boxed{${given}}`, expected)).toBe(1)
    expect(await reward(`so \\boxed{${expected}}`, given)).toBe(1)
  })

  it.each([
    ['0.33', '1/3'],
    ['x^2+1', '(x+1)^2'],
    ['\\sqrt{x^2}', 'x'],
    ['(1, 2)', '(2, 1)'],
    ['(1, 2)', '[1, 2]'],
    ['[0, 1]', '[0, 1)'],
    ['\\{1, 2\\}', '\\{1, 2, 3\\}'],
    ['1, 2', '1'],
    ['x', 'y'],
    ['x < 3', 'x > 3'],
    ['x < 3', 'x \\le 3'],
    ['100000000000000000000000000001', '100000000000000000000000000002'],
    ['3 1', '31'],
    ['2^{3^2}', '64'],
    ['-2^2', '4'],
    ['\\infty', '-\\infty'],
    ['\\text{blue}', '\\text{red}'],
    ['1/0', '0'],
  ])('%s is not %s (EVL-2)', async (given, expected) => {
    expect(await reward(`\\boxed{${given}}`, expected)).toBe(0)
    expect(await reward(`\\boxed{${expected}}`, given)).toBe(0)
  })

  it('takes the last mark, or else the last line (EVL-1)', async () => {
    expect(await reward('\\boxed{1} then \\boxed{2}', '1')).toBe(0)
    expect(await reward('we get 1\n2x', '2x')).toBe(1)
    expect(await reward('', '')).toBe(0)
  })

  const expression = fc.letrec<{ tree: string }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.integer({ min: 0, max: 99 }).map(String),
      fc.constantFrom('x', 'y'),
      fc.tuple(tie('tree'), fc.constantFrom('+', '-', '*'), tie('tree')).map(([a, op, b]) => `(${a}${op}${b})`),
      fc.tuple(tie('tree'), fc.integer({ min: 1, max: 9 })).map(([a, b]) => `\\frac{${a}}{${b}}`),
    ),
  })).tree
  const same = (a: string, b: string) => {
    const [one, two] = [parseMath(a), parseMath(b)]
    if (one === undefined || two === undefined) throw new Error(`unread: ${a}, ${b}`)
    return isSameMath(one, two)
  }

  it('equality is that of algebra (EVL-2)', () => {
    fc.assert(
      fc.property(expression, expression, expression, (a, b, c) => {
        expect(same(a, `${a}`)).toBe(true)
        expect(same(`(${a})*((${b})+(${c}))`, `(${c})(${a})+(${b})(${a})`)).toBe(true)
        expect(same(`(${a})+1`, a)).toBe(false)
        expect(same(`(${a})-(${b})`, `-((${b})-(${a}))`)).toBe(true)
      }),
      { numRuns: scaled(100) },
    )
  })

  it('has a reward for any text, and no number is worked out that is too large (PLG-8)', async () => {
    const parts = [
      '\\frac',
      '{',
      '}',
      '(',
      ')',
      '^',
      '9',
      '.',
      ',',
      'x',
      '\\sqrt',
      '[',
      ']',
      '-',
      '\\cup',
      '|',
      '\\{',
      '%',
      '=',
    ]
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...parts), { maxLength: 40 }), async (pieces) => {
        expect([0, 1]).toContain(await reward(pieces.join(''), '1'))
      }),
      { numRuns: scaled(500) },
    )
    for (const bomb of [
      '9^{9^{9^9}}',
      '2^{99999999999}',
      '('.repeat(5000),
      `${'\\sqrt{'.repeat(900)}2`,
      '9'.repeat(1900),
      `x^{${'9'.repeat(900)}}`,
    ]) {
      expect(await reward(`\\boxed{${bomb}}`, '1')).toBe(0)
    }
  })
})
