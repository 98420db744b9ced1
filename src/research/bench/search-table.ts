// A table of finished trainings: every configuration of a small space, several seeds each.
import type { Direction, KnobSpec, KnobValue } from '../../contracts/index.ts'

export interface SearchTable {
  readonly name: string
  readonly direction: Direction
  readonly seeds: number
  readonly axes: readonly { readonly name: string; readonly values: readonly KnobValue[] }[]
  /** Row-major over axes in order, seeds innermost; what is not finite is missing. */
  readonly values: Float32Array
}

/** Numbers are taken to lie in order, words not. */
export function spaceOf({ axes }: Pick<SearchTable, 'axes'>): Record<string, KnobSpec> {
  return Object.fromEntries(
    axes.map(({ name, values }): [string, KnobSpec] => [
      name,
      { kind: 'choice', values: [...values], ordered: values.every((value) => typeof value === 'number') },
    ]),
  )
}

/** Distance in configurations from a value of each axis to the next. */
export function stridesOf({ axes }: Pick<SearchTable, 'axes'>): number[] {
  const strides = axes.map(() => 1)
  for (let axis = axes.length - 2; axis >= 0; axis--) {
    strides[axis] = (strides[axis + 1] ?? 1) * (axes[axis + 1]?.values.length ?? 1)
  }
  return strides
}
