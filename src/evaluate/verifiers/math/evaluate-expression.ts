// The value of an expression at a point: exactly where it is a fraction, else in floating point.
import type { Expression, FunctionName } from './expression.ts'
import { add, divide, multiply, power, type Rational, root, toNumber } from './rational.ts'

/** The exact value, or undefined where it is none, is no fraction, or would grow too large. */
export function exactValue(expression: Expression, at: ReadonlyMap<string, Rational>): Rational | undefined {
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
export function floatValue(expression: Expression, at: ReadonlyMap<string, Rational>): number {
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
