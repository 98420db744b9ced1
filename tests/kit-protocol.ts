// The conversation of the tests of child processes.
import * as z from 'zod'

export const kitProtocol = {
  parent: {
    twice: { params: z.number(), result: z.number(), most: 4 },
    seen: { params: z.number() },
  },
  child: {
    echo: { params: z.unknown(), result: z.unknown() },
    fail: { params: z.string(), result: z.unknown() },
    /** Asks the parent, so many times at once. */
    ask: { params: z.array(z.number()), result: z.array(z.number()) },
    /** Settles when it is cancelled. */
    wait: { params: z.null(), result: z.string() },
    /** Does what a child must not. */
    act: { params: z.string(), result: z.unknown() },
    /** Counted; nothing comes back. */
    note: { params: z.string() },
    notes: { params: z.null(), result: z.number() },
    watch: { params: z.strictObject({ timeoutMs: z.number(), memoryMb: z.number().optional() }), result: z.null() },
  },
} as const
