// Named numbers: a file of its own, because nearly every other contract holds some.
import * as z from 'zod'

/** Named numbers, finite: a NaN loss is a guard event, not a point. */
export const Metrics = z.record(z.string(), z.number())
export type Metrics = z.infer<typeof Metrics>
