import * as z from 'zod'
import { defineVerifier, keyedRandom } from '../../kernel/index.ts'
import { markedAnswer } from './final-answer.ts'
import {
  add,
  divide,
  type Expression,
  type FunctionName,
  isEqual,
  type Meaning,
  multiply,
  power,
  type Rational,
  root,
  toNumber,
  variablesOf,
} from './math-expression.ts'
import { parseMath } from './math-parser.ts'
import { expectedText } from './text-verifiers.ts'

export const math = defineVerifier({
  kind: 'math',
  summary: 'Reward 1 if the final answer means the same as the expected one in mathematics; nothing is executed.',
  params: z.strictObject({
    whole_answer: z
      .boolean()
      .default(false)
      .describe('Take the whole answer instead of looking for \\boxed{}, <answer>, #### or "answer is".'),
  }),
  verify({ output, expected }, { params }) {
    const wanted = expectedText(expected, 'math')
    const final = (params.whole_answer ? undefined : markedAnswer(output)) ?? lastLine(output)
    if (plain(final) === plain(wanted)) return plain(final) === '' ? 0 : 1
    const given = parseMath(final)
    const meant = parseMath(markedAnswer(wanted) ?? wanted)
    if (meant === undefined)
      return { reward: 0, info: { reason: 'the expected answer is no mathematics that is known here' } }
    if (given === undefined) return { reward: 0, info: { reason: 'the answer is no mathematics that is known here' } }
    return isSameMath(given, meant) ? 1 : 0
  },
})

// Without a mark the last line counts, so that a derivation is not taken for its result.
function lastLine(output: string): string {
  return output.slice(-10_000).trimEnd().split('\n').at(-1)?.trim() ?? ''
}

// Spaces do not count, but between two numbers.
function plain(text: string): string {
  return text
    .replace(/^\$+|\$+$/g, '')
    .replace(/\\(?:left|right)/g, '')
    .replace(/(?<!\d)\s+|\s+(?!\d)/g, '')
    .replace(/\.$/, '')
}

// Whether two meanings are the same. Values without variables are compared exactly where they are fractions. Expressions with
// variables are compared at points that are drawn by key: in exact fractions, where two different polynomials or quotients of
// them agree at a random point about never (Schwartz 1980, Zippel 1979), else in floating point.

const points = 12
/** Points at which both sides must have a value, for the comparison to count. */
const fewest = 4
/** Rounding of a few dozen operations; far below what an answer rounded by hand is off. */
const tolerance = 1e-9

export function isSameMath(a: Meaning, b: Meaning): boolean {
  if (a.kind === 'value' && b.kind === 'value') return isSameValue(a.value, b.value)
  if (a.kind === 'set' && b.kind === 'set') return isSameSet(a.items, b.items)
  if (a.kind === 'union' && b.kind === 'union') return isSameSet(a.parts, b.parts)
  if (a.kind === 'ordered' && b.kind === 'ordered') {
    const isBracketed = a.open === b.open && a.close === b.close && a.items.length === b.items.length
    return isBracketed && a.items.every((item, i) => sameAt(item, b.items[i]))
  }
  if (a.kind === 'relation' && b.kind === 'relation') return isSameRelation(a, b)
  return isNamed(a, b) || isNamed(b, a) || isAlone(a, b) || isAlone(b, a)
}

type Relation = Extract<Meaning, { kind: 'relation' }>

const sameAt = (item: Meaning, other: Meaning | undefined) => other !== undefined && isSameMath(item, other)

// "x = 5" answers what "5" answers, as long as the left side is a mere name.
function isNamed(relation: Meaning, other: Meaning): boolean {
  if (relation.kind !== 'relation' || relation.sign !== '=' || relation.left.op !== 'variable') return false
  return isSameMath({ kind: 'value', value: relation.right }, other)
}

// A set of one is its element: "x = 3" and "{3}".
function isAlone(set: Meaning, other: Meaning): boolean {
  const [only] = set.kind === 'set' && set.items.length === 1 ? set.items : []
  return only !== undefined && other.kind !== 'set' && isSameMath(only, other)
}

function isSameSet(a: readonly Meaning[], b: readonly Meaning[]): boolean {
  if (Math.max(a.length, b.length) > 50) return false
  const covers = (all: readonly Meaning[], others: readonly Meaning[]) =>
    all.every((item) => others.some((other) => isSameMath(item, other)))
  return covers(a, b) && covers(b, a)
}

// `x < 3` and `3 > x` say the same; so do equations whose sides differ by the same expression, up to its sign.
function isSameRelation(a: Relation, b: Relation): boolean {
  const turned: Readonly<Record<string, string>> = { '=': '=', '<': '>', '>': '<', '≤': '≥', '≥': '≤' }
  const straight = a.sign === b.sign && isSameValue(difference(a), difference(b))
  const reversed =
    turned[a.sign] === b.sign && isSameValue(difference(a), difference({ ...b, left: b.right, right: b.left }))
  return straight || reversed
}

function difference({ left, right }: Pick<Relation, 'left' | 'right'>): Expression {
  const minus: Expression = { op: 'number', value: { n: -1n, d: 1n } }
  return { op: 'sum', left, right: { op: 'product', left: minus, right } }
}

function isSameValue(a: Expression, b: Expression): boolean {
  const names = [...new Set([...variablesOf(a), ...variablesOf(b)])].sort()
  if (names.length === 0) return isSameAt(a, b, new Map()) ?? floatValue(a, new Map()) === floatValue(b, new Map())
  let compared = 0
  for (let point = 0; point < points; point++) {
    const same = isSameAt(a, b, pointAt(names, point))
    if (same === false) return false
    if (same === true) compared += 1
  }
  return compared >= fewest
}

/** Undefined: neither has a value here. */
function isSameAt(a: Expression, b: Expression, at: ReadonlyMap<string, Rational>): boolean | undefined {
  const [exactA, exactB] = [exactValue(a, at), exactValue(b, at)]
  if (exactA !== undefined && exactB !== undefined) return isEqual(exactA, exactB)
  const [x, y] = [floatValue(a, at), floatValue(b, at)]
  if (!Number.isFinite(x) || !Number.isFinite(y)) return Number.isFinite(x) === Number.isFinite(y) ? undefined : false
  return Math.abs(x - y) <= tolerance * Math.max(1e-6, Math.abs(x), Math.abs(y))
}

// Small and large, positive and negative; the first half positive, where roots and logarithms have values.
function pointAt(names: readonly string[], point: number): ReadonlyMap<string, Rational> {
  const random = keyedRandom(0, 'math', point)
  return new Map(
    names.map((name) => {
      const sign = point < points / 2 || random.float() < 0.5 ? 1n : -1n
      return [name, { n: sign * BigInt(1 + random.int(point % 2 === 0 ? 97 : 9_973)), d: 101n }]
    }),
  )
}

// The value of an expression at a point: exactly where it is a fraction, else in floating point.

/** The exact value, or undefined where it is none, is no fraction, or would grow too large. */
function exactValue(expression: Expression, at: ReadonlyMap<string, Rational>): Rational | undefined {
  switch (expression.op) {
    case 'number':
      return expression.value
    case 'variable':
      return at.get(expression.name)
    case 'sum':
      return both(expression, at, add)
    case 'product':
      return both(expression, at, multiply)
    case 'quotient':
      return both(expression, at, divide)
    case 'power':
      return both(expression, at, (base, exponent) =>
        isZero(base) && exponent.n <= 0n ? undefined : power(base, exponent),
      )
    case 'root': {
      const of = exactValue(expression.of, at)
      return of === undefined ? undefined : root(of, expression.degree)
    }
    case 'call': {
      const of = expression.name === 'abs' ? exactValue(expression.of, at) : undefined
      return of === undefined ? undefined : { n: of.n < 0n ? -of.n : of.n, d: of.d }
    }
    default:
      return undefined
  }
}

const isZero = ({ n }: Rational) => n === 0n

function both(
  { left, right }: { readonly left: Expression; readonly right: Expression },
  at: ReadonlyMap<string, Rational>,
  combine: (a: Rational, b: Rational) => Rational | undefined,
): Rational | undefined {
  const a = exactValue(left, at)
  const b = a === undefined ? undefined : exactValue(right, at)
  return a === undefined || b === undefined ? undefined : combine(a, b)
}

/** The value in floating point; NaN where there is none among the real numbers. */
function floatValue(expression: Expression, at: ReadonlyMap<string, Rational>): number {
  const of = (each: Expression) => floatValue(each, at)
  switch (expression.op) {
    case 'number':
      return toNumber(expression.value)
    case 'constant':
      return { pi: Math.PI, e: Math.E, infinity: Number.POSITIVE_INFINITY }[expression.name]
    case 'variable': {
      const value = at.get(expression.name)
      return value === undefined ? Number.NaN : toNumber(value)
    }
    case 'sum':
      return of(expression.left) + of(expression.right)
    case 'product':
      return of(expression.left) * of(expression.right)
    case 'quotient':
      return of(expression.left) / of(expression.right)
    case 'power':
      return of(expression.left) ** of(expression.right)
    case 'root':
      return realRoot(of(expression.of), Number(expression.degree))
    default:
      return functions[expression.name](of(expression.of))
  }
}

function realRoot(value: number, degree: number): number {
  if (degree === 2) return Math.sqrt(value)
  return value < 0 && degree % 2 === 1 ? -((-value) ** (1 / degree)) : value ** (1 / degree)
}

const functions: Readonly<Record<FunctionName, (x: number) => number>> = {
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  ln: Math.log,
  log: Math.log10,
  exp: Math.exp,
  abs: Math.abs,
  arcsin: Math.asin,
  arccos: Math.acos,
  arctan: Math.atan,
}
