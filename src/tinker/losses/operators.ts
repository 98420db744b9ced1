// What a loss may be made of. Each operator works on each element; a scalar goes with a vector of any length. Where a slope is not
// defined (a tie, the edge of a clamp) the choice is written at the operator.
import type { CustomLoss, Datum, Metrics, Tensor } from '../../contracts/index.ts'

export const add = (a: Operand, b: Operand): Value => pairwise(a, b, { value: (x, y) => x + y, slopes: () => [1, 1] })

export const sub = (a: Operand, b: Operand): Value => pairwise(a, b, { value: (x, y) => x - y, slopes: () => [1, -1] })

export const mul = (a: Operand, b: Operand): Value =>
  pairwise(a, b, { value: (x, y) => x * y, slopes: (x, y) => [y, x] })

export const div = (a: Operand, b: Operand): Value =>
  pairwise(a, b, { value: (x, y) => x / y, slopes: (x, y) => [1 / y, -x / (y * y)] })

/** The smaller of two; at a tie the slope is that of the first. */
export const min = (a: Operand, b: Operand): Value =>
  pairwise(a, b, { value: Math.min, slopes: (x, y) => (x <= y ? [1, 0] : [0, 1]) })

/** The larger of two; at a tie the slope is that of the first. */
export const max = (a: Operand, b: Operand): Value =>
  pairwise(a, b, { value: Math.max, slopes: (x, y) => (x >= y ? [1, 0] : [0, 1]) })

export const neg = (a: Operand): Value => each(a, { value: (x) => -x, slope: () => -1 })

export const exp = (a: Operand): Value => each(a, { value: Math.exp, slope: (_, y) => y })

/** Natural logarithm. */
export const log = (a: Operand): Value => each(a, { value: Math.log, slope: (x) => 1 / x })

export const square = (a: Operand): Value => each(a, { value: (x) => x * x, slope: (x) => 2 * x })

/** Kept within two bounds; no slope outside of them, that of the value at them. */
export function clamp(a: Operand, low: number, high: number): Value {
  if (!(low <= high)) throw new RangeError(`nothing lies between ${low} and ${high}`)
  return each(a, { value: (x) => Math.min(high, Math.max(low, x)), slope: (x) => (x >= low && x <= high ? 1 : 0) })
}

/** 1 / (1 + exp(-x)). */
export const sigmoid = (a: Operand): Value => each(a, { value: logistic, slope: (_, y) => y * (1 - y) })

/** log(sigmoid(x)), without overflow at either end. */
export const logsigmoid = (a: Operand): Value =>
  each(a, {
    value: (x) => (x >= 0 ? -Math.log1p(Math.exp(-x)) : x - Math.log1p(Math.exp(x))),
    slope: (x) => logistic(-x),
  })

/** The sum of all elements, a scalar. */
export function sum(a: Operand): Value {
  const from = toValue(a)
  let total = 0
  for (const value of from.data) total += value
  return new Value(Float64Array.of(total), [from], (slope) => {
    const [shared = 0] = slope
    share(from, () => shared)
  })
}

/** The mean of all elements, a scalar. */
export function mean(a: Operand): Value {
  const from = toValue(a)
  if (from.length === 0) throw new RangeError('nothing has no mean')
  return div(sum(from), from.length)
}

/** Where `mask` is not 0 the first, elsewhere the second. What is not chosen gives no slope, not even one that is not a number. */
export function where(mask: ArrayLike<number | boolean>, a: Operand, b: Operand): Value {
  const [x, y] = [toValue(a), toValue(b)]
  const length = commonLength(mask.length, commonLength(x.length, y.length))
  const chosen = (at: number): boolean => Boolean(mask[mask.length === 1 ? 0 : at])
  const data = new Float64Array(length)
  for (let at = 0; at < length; at++) data[at] = chosen(at) ? element(x, at) : element(y, at)
  return new Value(data, [x, y], (slope) => {
    for (let at = 0; at < length; at++) contribute(chosen(at) ? x : y, at, slope[at] ?? 0)
  })
}

/** The elements at these places, in this order; a place may come more than once. */
export function gather(a: Operand, places: ArrayLike<number>): Value {
  const from = toValue(a)
  const data = new Float64Array(places.length)
  for (let at = 0; at < places.length; at++) {
    const place = places[at] ?? -1
    if (!(Number.isInteger(place) && place >= 0 && place < from.length)) {
      throw new RangeError(`place ${place} is not in a vector of ${from.length}`)
    }
    data[at] = from.data[place] ?? 0
  }
  return new Value(data, [from], (slope) => {
    for (let at = 0; at < places.length; at++) contribute(from, places[at] ?? 0, slope[at] ?? 0)
  })
}

/** Vectors and scalars one after the other: the sums of each datum become one vector. */
export function concat(parts: readonly Operand[]): Value {
  const values = parts.map(toValue)
  const data = new Float64Array(values.reduce((size, { length }) => size + length, 0))
  let start = 0
  const placed = values.map((value) => {
    data.set(value.data, start)
    start += value.length
    return { value, start: start - value.length }
  })
  return new Value(data, values, (slope) => {
    for (const { value, start: from } of placed) share(value, (at) => slope[from + at] ?? 0)
  })
}

/** The same numbers, through which no slope passes. */
export const stopGradient = (a: Operand): Value => new Value(toValue(a).data)

function logistic(x: number): number {
  return x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x))
}

/** What an operator makes of x, and its derivative, which may also use the result y. */
type Unary = { value(x: number): number; slope(x: number, y: number): number }

function each(a: Operand, { value, slope: slopeAt }: Unary): Value {
  const from = toValue(a)
  const data = from.data.map((x) => value(x))
  return new Value(data, [from], (slope) =>
    share(from, (at) => (slope[at] ?? 0) * slopeAt(from.data[at] ?? 0, data[at] ?? 0)),
  )
}

type Binary = { value(x: number, y: number): number; slopes(x: number, y: number): readonly [number, number] }

function pairwise(a: Operand, b: Operand, { value, slopes }: Binary): Value {
  const [x, y] = [toValue(a), toValue(b)]
  const length = commonLength(x.length, y.length)
  const data = new Float64Array(length)
  for (let at = 0; at < length; at++) data[at] = value(element(x, at), element(y, at))
  return new Value(data, [x, y], (slope) => {
    for (let at = 0; at < length; at++) {
      const [toX, toY] = slopes(element(x, at), element(y, at))
      contribute(x, at, (slope[at] ?? 0) * toX)
      contribute(y, at, (slope[at] ?? 0) * toY)
    }
  })
}

function commonLength(a: number, b: number): number {
  if (a === b || b === 1) return a
  if (a === 1) return b
  throw new RangeError(`a vector of ${a} does not go with one of ${b}`)
}

function element({ data }: Value, at: number): number {
  return data[data.length === 1 ? 0 : at] ?? 0
}

function contribute({ slope, length }: Value, at: number, amount: number): void {
  if (slope === undefined) return
  const place = length === 1 ? 0 : at
  slope[place] = (slope[place] ?? 0) + amount
}

function share(value: Value, amount: (at: number) => number): void {
  for (let at = 0; at < value.length; at++) contribute(value, at, amount(at))
}

// Numbers that remember how they were made, so that the slope of a loss can be followed back to what it was made of (reverse-mode
// differentiation). A value is a vector, or a scalar: a vector of one element, which goes with vectors of any length.
/** Adds what the value's slope contributes to the slopes of what it was made of. */
type Backward = (slope: Float64Array) => void

export class Value {
  readonly data: Float64Array
  readonly #parents: readonly Value[]
  readonly #backward: Backward
  /** Slope of the loss, once it was asked for. */
  #slope: Float64Array | undefined

  constructor(data: Float64Array, parents: readonly Value[] = [], backward: Backward = () => {}) {
    this.data = data
    this.#parents = parents
    this.#backward = backward
  }

  get length(): number {
    return this.data.length
  }

  /** The only element of a scalar. */
  get item(): number {
    const [only] = this.data
    if (this.data.length === 1 && only !== undefined) return only
    throw new RangeError(`a vector of ${this.data.length} values is no scalar`)
  }

  /** Slopes of this scalar with respect to `leaves`; undefined for one that it was not made of. */
  slopes(leaves: readonly Value[]): (Float64Array | undefined)[] {
    if (this.length !== 1) throw new RangeError(`a loss is a scalar, not a vector of ${this.length} values`)
    const order = this.#ancestors()
    for (const value of order) value.#slope = new Float64Array(value.length)
    this.#slope?.fill(1)
    for (const value of order.reverse()) if (value.#slope !== undefined) value.#backward(value.#slope)
    const slopes = leaves.map((leaf) => leaf.#slope)
    for (const value of order) value.#slope = undefined
    return slopes
  }

  /** Where an operator adds its share; undefined outside of a computation of slopes. */
  get slope(): Float64Array | undefined {
    return this.#slope
  }

  // Every value after those it was made of. Walked with an explicit list: a loss over a long batch is deeper than the stack.
  #ancestors(): Value[] {
    const order: Value[] = []
    const entered = new Set<Value>()
    const path: { value: Value; next: number }[] = [{ value: this, next: 0 }]
    entered.add(this)
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const parent = top.value.#parents[top.next++]
      if (parent === undefined) {
        order.push(top.value)
        path.pop()
      } else if (!entered.has(parent)) {
        entered.add(parent)
        path.push({ value: parent, next: 0 })
      }
    }
    return order
  }
}

/** What operators take: a value, a number, or numbers in a row that nothing depends on. */
export type Operand = Value | number | ArrayLike<number>

/** The operand as a value; plain numbers are constants. */
function toValue(operand: Operand): Value {
  if (operand instanceof Value) return operand
  return new Value(typeof operand === 'number' ? Float64Array.of(operand) : Float64Array.from(operand))
}

// A loss written as a function of log-probabilities; its gradient follows by itself. It is sent like any loss that the caller
// computes: one pass for the log-probabilities, one that carries the gradient.
export interface LossBatch {
  readonly data: readonly Datum[]
  /** Of each datum, the log-probabilities of its targets, row by row where there are several per position. */
  readonly logprobs: readonly Value[]
  /** Numbers that a datum brings along, `weights` for one; undefined where it brings none. */
  input(index: number, name: string): Tensor['data'] | undefined
}

export type LossResult = { readonly loss: Value; readonly metrics?: Metrics | undefined }

/** Makes a loss for `forwardBackward` out of a function. Every datum must have a part in it. */
export function defineLoss(compute: (batch: LossBatch) => LossResult): CustomLoss {
  return {
    custom(data, logprobs) {
      const leaves = logprobs.map(({ data: numbers }) => new Value(Float64Array.from(numbers)))
      const input = (index: number, name: string) => data[index]?.lossInputs[name]?.data
      const { loss, metrics } = compute({ data, logprobs: leaves, input })
      const gradients = loss.slopes(leaves).map((slope, index) => {
        if (slope === undefined) throw new RangeError(`the loss does not depend on datum ${index}`)
        return { data: slope, shape: logprobs[index]?.shape ?? [slope.length] }
      })
      return { loss: loss.item, gradients, metrics }
    },
  }
}
