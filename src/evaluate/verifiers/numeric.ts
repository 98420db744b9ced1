import * as z from 'zod'
import { defineVerifier, EvsysError } from '../../kernel/index.ts'
import { markedAnswer } from './final-answer.ts'

// Numbers as people and models write them: 1,234.5, -3/4, 6.02e23, 6.02 x 10^23, $5, 40%.
interface WrittenNumber {
  readonly value: number
  /** What follows it directly: a unit, `%`, or nothing. */
  readonly unit: string
}

const number = String.raw`[-+−–]?\s?[$€£]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)?(?:\.\d+)?`
const pattern = new RegExp(
  String.raw`(?<![\w.])(?=[-+−–$€£.\d])(${number})(?:\s?(?:[x×*]|\\times|\\cdot)\s?10\s?\^\s?\{?\s?([-+−]?\d{1,3})\s?\}?|[eE]([-+]?\d{1,3}))?(?:\s?\/\s?(\d+(?:\.\d+)?))?\s{0,3}(\\?%|°?[A-Za-zµΩ°][\w/^²³·]{0,30})?`,
  'gu',
)

/** All numbers of a text, in order. A comma counts as a mark of thousands where three digits follow it. */
export function readNumbers(text: string): WrittenNumber[] {
  return [...text.matchAll(pattern)].flatMap(([, written = '', power, exponent, divisor, unit = '']) => {
    const digits = written.replace(/[−–]/g, '-').replace(/[\s$€£,+]/g, '')
    if (!/\d/.test(digits)) return []
    const scale = Number((power ?? exponent ?? '0').replace('−', '-'))
    const value = Number(`${digits}e${scale}`) / Number(divisor ?? 1)
    return Number.isFinite(value) ? [{ value, unit: unit.replace('\\', '') }] : []
  })
}

const tolerance = z.number().min(0)

export const numeric = defineVerifier({
  kind: 'numeric',
  summary:
    'Reward 1 if the final number of the answer, marked or else the last one, is the expected one within a tolerance.',
  params: z.strictObject({
    abs_tolerance: tolerance.default(0).describe('How far the answer may be off.'),
    rel_tolerance: tolerance.default(1e-6).describe('How far it may be off, as a share of the expected number.'),
    units: z
      .record(z.string(), z.number())
      .optional()
      .describe('Units that may follow the number, with their factors: { m: 1, km: 1000 }. Absent: units are ignored.'),
    percent: z
      .enum(['number', 'fraction'])
      .default('number')
      .describe('What 40% is: the number 40, or the fraction 0.4.'),
  }),
  verify({ output, expected }, { params }) {
    const wanted = expectedNumber(expected, params.percent)
    const final = finalNumber(output)
    if (typeof final === 'string') return { reward: 0, info: { reason: final } }
    const factor = factorOf(final, params)
    if (factor === undefined)
      return { reward: 0, info: { reason: `the unit "${final.unit}" is none that is accepted` } }
    const value = final.value * factor
    const allowed = Math.max(params.abs_tolerance, params.rel_tolerance * Math.abs(wanted))
    return { reward: Math.abs(value - wanted) <= allowed ? 1 : 0, info: { value, expected: wanted } }
  },
})

// A marked answer must hold one number: who writes two has not decided. Without a mark the last number of the text counts.
function finalNumber(output: string): WrittenNumber | string {
  const marked = markedAnswer(output)
  const numbers = readNumbers(marked ?? output.slice(-longestRead))
  const last = numbers.at(-1)
  if (last === undefined) return 'the answer holds no number'
  const values = new Set(numbers.map(({ value, unit }) => `${value} ${unit}`))
  return marked !== undefined && values.size > 1 ? `the final answer holds ${values.size} numbers` : last
}

const longestRead = 100_000

function factorOf(
  { unit }: WrittenNumber,
  { units, percent }: { units?: Readonly<Record<string, number>> | undefined; percent: 'number' | 'fraction' },
): number | undefined {
  if (unit === '%') return percent === 'fraction' ? 0.01 : 1
  if (units === undefined || unit === '') return 1
  return Object.hasOwn(units, unit) ? units[unit] : undefined
}

function expectedNumber(expected: unknown, percent: 'number' | 'fraction'): number {
  if (typeof expected === 'number' && Number.isFinite(expected)) return expected
  const numbers = typeof expected === 'string' ? readNumbers(expected) : []
  const [only] = numbers
  if (only !== undefined && numbers.length === 1) return only.value * (factorOf(only, { percent }) ?? 1)
  throw new EvsysError('DATA_INVALID', 'numeric: the task expects no single number', {
    fix: 'give the task’s verifier an `expected` number: 42, or "1,234.5".',
  })
}
