// What an optimiser may turn, and what it may be.
import * as z from 'zod'
import { Text } from './name.ts'

export const KnobValue = z.union([z.number(), z.string(), z.boolean()])
export type KnobValue = z.infer<typeof KnobValue>

/** Values by knob: what an optimiser may turn, declared by the task or found as literals in the code. */
export const Knobs = z.record(Text, KnobValue)
export type Knobs = z.infer<typeof Knobs>

/** What a knob may be. */
export const KnobSpec = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('choice').describe('One of a list.'),
    values: z.array(KnobValue).min(1).describe('What it may be.'),
    ordered: z.boolean().default(false).describe('Neighbours in the list are alike.'),
  }),
  z.strictObject({
    kind: z.literal('range').describe('A number between two bounds.'),
    low: z.number().describe('Smallest value.'),
    high: z.number().describe('Largest value.'),
    log: z.boolean().default(false).describe('Equal factors are equal steps.'),
    integer: z.boolean().default(false).describe('Whole numbers alone.'),
  }),
])
export type KnobSpec = z.infer<typeof KnobSpec>
