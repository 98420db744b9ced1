// Numbers that remember how they were made, so that the slope of a loss can be followed back to what it was made of (reverse-mode
// differentiation). A value is a vector, or a scalar: a vector of one element, which goes with vectors of any length.

/** Adds what the value's slope contributes to the slopes of what it was made of. */
type Backward = (slope: Float64Array) => void

/** A vector in double precision. */
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

  // Every value after those it was made of. Walked with a list of its own: a loss over a long batch is deeper than the stack.
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
export function toValue(operand: Operand): Value {
  if (operand instanceof Value) return operand
  return new Value(typeof operand === 'number' ? Float64Array.of(operand) : Float64Array.from(operand))
}
