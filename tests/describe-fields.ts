// One test for each field of a file format, from a table.
import { describe, expect, it } from 'vitest'
import type { Plan } from '../src/contracts/index.ts'
import { faultsIn, planOf } from './load-text.ts'

export interface Field {
  readonly field: string
  /** YAML that gives the field, and what it becomes. */
  readonly given: readonly [yaml: string, value: unknown]
  /** What it is when it is not given; `required` when it must be. */
  readonly absent: unknown
  /** YAML that is refused, and the place and code of the problem. */
  readonly refused: readonly [yaml: string, fault: RegExp]
}

/** A test for each field: a value that is taken, what holds without it, a value that is refused and where. */
export function describeFields(
  section: string,
  fields: readonly Field[],
  parts: {
    textOf: (yaml: string) => string
    without: (field: string) => string
    read: (plan: Plan, field: string) => unknown
  },
): void {
  describe(section, () => {
    for (const { field, given, absent, refused } of fields) {
      it(`\`${field}\` is read, defaulted and checked (CON-1)`, async () => {
        expect(parts.read(await planOf(parts.textOf(given[0])), field)).toEqual(given[1])
        const without = parts.without(field)
        if (absent === 'required') expect(await faultsIn(without)).toContainEqual(expect.stringMatching(/is missing/))
        else expect(parts.read(await planOf(without), field)).toEqual(absent)
        const faults = await faultsIn(parts.textOf(refused[0]))
        expect(faults).toContainEqual(expect.stringMatching(refused[1]))
      })
    }
  })
}

/** A field of a value, whatever it is. */
export const byKey = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
