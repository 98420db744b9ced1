// Whether two meanings are the same. Values without variables are compared exactly where they are fractions. Expressions with
// variables are compared at points that are drawn by key: in exact fractions, where two different polynomials or quotients of
// them agree at a random point about never (Schwartz 1980, Zippel 1979), else in floating point.
import { keyedRandom } from '../../../kernel/index.ts'
import { exactValue, floatValue } from './evaluate-expression.ts'
import { type Expression, type Meaning, variablesOf } from './expression.ts'
import { isEqual, type Rational } from './rational.ts'

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
