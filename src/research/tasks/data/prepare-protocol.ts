// What is sent between the controller and the process that makes the splits of a task.
import * as z from 'zod'

const PrepareStart = z.strictObject({ module: z.string(), source: z.string().optional(), out: z.string() })
export type PrepareStart = z.infer<typeof PrepareStart>

export const prepareProtocol = { parent: {}, child: { prepare: { params: PrepareStart, result: z.null() } } } as const
