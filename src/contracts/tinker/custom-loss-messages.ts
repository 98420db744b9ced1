// Since 0.36: a loss that runs on the server, uploaded as a graph of allowed operations. A server offers it by the flag
// `custom_loss_server_side`; the id it answers is then a `loss_fn` of the same session.
import * as z from 'zod'

export const CreateCustomLossRequest = z.object({
  session_id: z.string(),
  custom_loss_seq_id: z.int().min(0),
  name: z.string(),
  inputs: z.array(z.object({ name: z.string(), rank: z.int().min(0).max(2) })),
  graph: z.object({
    format: z.literal(1),
    nodes: z.array(
      z.object({
        op: z.string(),
        name: z.string(),
        target: z.string(),
        args: z.array(z.unknown()).default([]),
        kwargs: z.record(z.string(), z.unknown()).default({}),
      }),
    ),
  }),
  type: z.literal('create_custom_loss').nullish(),
})
export type CreateCustomLossRequest = z.infer<typeof CreateCustomLossRequest>
export const CreateCustomLossResponse = z.object({
  loss_id: z.string(),
  type: z.literal('create_custom_loss').nullish(),
})
export type CreateCustomLossResponse = z.infer<typeof CreateCustomLossResponse>
