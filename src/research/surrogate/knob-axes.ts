// Knobs as the memory model compares them: one whole number per knob. Ordered ones lie on a fine grid, so that how alike two are is
// looked up, not computed; all others are alike when they are equal.
import type { KnobSpec, Knobs, KnobValue } from '../../contracts/index.ts'

/** Steps of the grid on which ordered knobs lie. */
const gridSteps = 1024
/** Share of the whole range over which the likeness of two values falls by 1 / e. */
const reach = 0.3
const likeness = Float64Array.from({ length: gridSteps + 1 }, (_, steps) => Math.exp(-steps / gridSteps / reach))
const absent = -1

type Axis = { readonly name: string; readonly spec: KnobSpec | undefined; readonly codes: Map<KnobValue, number> }

export interface KnobAxes {
  readonly count: number
  /** Whether a candidate has no knob besides these. */
  covers(knobs: Knobs): boolean
  /** What a candidate is on every axis. */
  describe(knobs: Knobs): Int32Array
  /**
   * How alike two are, from 0 to 1, written at a place: on every axis, and last over all axes that offer the same choices, whichever
   * of them a value stands on.
   */
  compare(a: Int32Array, b: Int32Array, into: Float64Array, at?: number): void
}

/** The axes of a space, and those that candidates have besides. */
export function knobAxes(space: Readonly<Record<string, KnobSpec>>, all: readonly Knobs[]): KnobAxes {
  const names = new Set([...Object.keys(space), ...all.flatMap((knobs) => Object.keys(knobs))])
  const siblings = new Map<string, number[]>()
  const axes: Axis[] = []
  for (const name of [...names].sort()) {
    const spec = space[name]
    const same = spec === undefined ? [] : (siblings.get(JSON.stringify(spec)) ?? [])
    if (spec !== undefined) siblings.set(JSON.stringify(spec), [...same, axes.length])
    // Axes of one spec have one set of codes, so that values of one can be found on another.
    axes.push({ name, spec, codes: axes[same[0] ?? -1]?.codes ?? new Map() })
  }
  const ordered = axes.map(({ spec }) => spec?.kind === 'range' || spec?.ordered === true)
  const groups = [...siblings.values()].filter((group) => group.length > 1)
  const count = axes.length
  const alike = (x: number, y: number, axis: number): number => {
    if (x === y) return 1
    return ordered[axis] === true && x !== absent && y !== absent ? (likeness[x < y ? y - x : x - y] ?? 0) : 0
  }
  // Indexed, since most of the time of a session is spent here.
  const alikeAnywhere = (a: Int32Array, b: Int32Array, group: readonly number[]): number => {
    const axis = group[0] as number // a group has two axes or more, of one kind
    const isOrdered = ordered[axis] === true
    let sum = 0
    for (let i = 0; i < group.length; i++) {
      const x = a[group[i] as number] as number
      for (let j = 0; j < group.length; j++) {
        const y = b[group[j] as number] as number
        if (isOrdered) sum += alike(x, y, axis)
        else if (x === y) sum++
      }
    }
    return sum
  }
  return {
    count,
    covers(knobs) {
      for (const name in knobs) if (!names.has(name)) return false
      return true
    },
    describe(knobs) {
      return Int32Array.from(axes, (axis) => {
        const value = knobs[axis.name]
        return value === undefined ? absent : codeOf(axis, value)
      })
    },
    compare(a, b, into, at = 0) {
      // Both have a number per axis.
      for (let axis = 0; axis < count; axis++) into[at + axis] = alike(a[axis] as number, b[axis] as number, axis)
      let shared = 0
      for (const group of groups) shared += alikeAnywhere(a, b, group) / group.length
      into[at + count] = shared / Math.max(1, count)
    },
  }
}

function codeOf({ spec, codes }: Axis, value: KnobValue): number {
  const onGrid = orderedCode(spec, value)
  if (onGrid !== undefined) return onGrid
  const known = codes.get(value)
  if (known !== undefined) return known
  const code = (gridSteps + 1) * (2 + codes.size)
  codes.set(value, code)
  return code
}

// A value that its spec does not know is like no other, so its code lies beyond the grid and further than that from any other.
function orderedCode(spec: KnobSpec | undefined, value: KnobValue): number | undefined {
  if (spec === undefined) return undefined
  if (spec.kind === 'choice') {
    const place = spec.ordered ? spec.values.indexOf(value) : -1
    return place < 0 ? undefined : Math.round((gridSteps * place) / Math.max(1, spec.values.length - 1))
  }
  if (typeof value !== 'number') return undefined
  const turn = spec.log && spec.low > 0 ? Math.log : (x: number) => x
  const share = (turn(value) - turn(spec.low)) / (turn(spec.high) - turn(spec.low))
  return Number.isFinite(share) ? Math.round(gridSteps * Math.min(1, Math.max(0, share))) : undefined
}
