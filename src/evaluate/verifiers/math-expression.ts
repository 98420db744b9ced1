// What notation means: values built from numbers, constants and variables, and collections of them.

export type Expression =
  | { readonly op: 'number'; readonly value: Rational }
  | { readonly op: 'constant'; readonly name: 'pi' | 'e' | 'infinity' }
  | { readonly op: 'variable'; readonly name: string }
  | { readonly op: 'sum' | 'product' | 'quotient' | 'power'; readonly left: Expression; readonly right: Expression }
  | { readonly op: 'root'; readonly degree: bigint; readonly of: Expression }
  | { readonly op: 'call'; readonly name: FunctionName; readonly of: Expression }

export const functionNames = ['sin', 'cos', 'tan', 'ln', 'log', 'exp', 'abs', 'arcsin', 'arccos', 'arctan'] as const
export type FunctionName = (typeof functionNames)[number]

/** A collection keeps how it is bracketed: `(1, 2)` is not `[1, 2]`, and of a set the order does not count. */
export type Meaning =
  | { readonly kind: 'value'; readonly value: Expression }
  | { readonly kind: 'ordered'; readonly open: string; readonly close: string; readonly items: readonly Meaning[] }
  | { readonly kind: 'set'; readonly items: readonly Meaning[] }
  | { readonly kind: 'union'; readonly parts: readonly Meaning[] }
  | { readonly kind: 'relation'; readonly sign: string; readonly left: Expression; readonly right: Expression }

export function variablesOf(expression: Expression): string[] {
  switch (expression.op) {
    case 'variable':
      return [expression.name]
    case 'sum':
    case 'product':
    case 'quotient':
    case 'power':
      return [...variablesOf(expression.left), ...variablesOf(expression.right)]
    case 'root':
    case 'call':
      return variablesOf(expression.of)
    default:
      return []
  }
}

// Exact fractions of whole numbers. They are kept small: what grows past a bound is left to floating point.
export interface Rational {
  readonly n: bigint
  /** Positive; without a common factor with `n`. */
  readonly d: bigint
}

/** Longer numbers than this are not worked out exactly. */
const mostBits = 4_096n
const bound = 1n << mostBits
const mostPower = 1_000n

export function rational(n: bigint, d = 1n): Rational | undefined {
  if (d === 0n) return undefined
  const sign = d < 0n ? -1n : 1n
  const common = gcd(n < 0n ? -n : n, d < 0n ? -d : d)
  const reduced = { n: (sign * n) / common, d: (sign * d) / common }
  return reduced.n > bound || reduced.n < -bound || reduced.d > bound ? undefined : reduced
}

/** `12.50` and `.5`, exactly. */
export function decimal(text: string): Rational | undefined {
  const [whole = '', fraction = ''] = text.split('.')
  return rational(BigInt(`${whole}${fraction}` || '0'), 10n ** BigInt(fraction.length))
}

export const add = (a: Rational, b: Rational) => rational(a.n * b.d + b.n * a.d, a.d * b.d)
export const multiply = (a: Rational, b: Rational) => rational(a.n * b.n, a.d * b.d)
export const divide = (a: Rational, b: Rational) => rational(a.n * b.d, a.d * b.n)
export const isEqual = (a: Rational, b: Rational) => a.n === b.n && a.d === b.d

/** A power that is itself a fraction: whole exponents, and roots that come out even. */
export function power(base: Rational, exponent: Rational): Rational | undefined {
  const rooted = exponent.d === 1n ? base : root(base, exponent.d)
  if (rooted === undefined) return undefined
  const times = exponent.n < 0n ? -exponent.n : exponent.n
  const bits = BigInt(rooted.n.toString(2).length + rooted.d.toString(2).length)
  if (times > mostPower || times * bits > 2n * mostBits) return undefined
  const raised = { n: rooted.n ** times, d: rooted.d ** times }
  return exponent.n < 0n ? rational(raised.d, raised.n) : rational(raised.n, raised.d)
}

/** The root, where it is a fraction. Even roots of negative numbers have none. */
export function root({ n, d }: Rational, degree: bigint): Rational | undefined {
  if (degree < 1n || degree > 64n || (n < 0n && degree % 2n === 0n)) return undefined
  const top = wholeRoot(n < 0n ? -n : n, degree)
  const bottom = wholeRoot(d, degree)
  return top === undefined || bottom === undefined ? undefined : rational(n < 0n ? -top : top, bottom)
}

function wholeRoot(value: bigint, degree: bigint): bigint | undefined {
  let low = 0n
  let high = 1n << (BigInt(value.toString(2).length) / degree + 1n)
  while (low <= high) {
    const middle = (low + high) / 2n
    const raised = middle ** degree
    if (raised === value) return middle
    if (raised < value) low = middle + 1n
    else high = middle - 1n
  }
  return undefined
}

export function toNumber({ n, d }: Rational): number {
  const value = Number(n) / Number(d)
  if (Number.isFinite(value)) return value
  const shift = BigInt(Math.max(0, n.toString(2).length - 1000, d.toString(2).length - 1000))
  return Number(n >> shift) / Number(d >> shift)
}

function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b]
  while (y !== 0n) [x, y] = [y, x % y]
  return x === 0n ? 1n : x
}
