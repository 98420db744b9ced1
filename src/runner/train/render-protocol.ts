// What is sent between a run worker and the threads that render its conversations.
import * as z from 'zod'
import { ChatMessage, type Rendered } from '../../contracts/index.ts'

export const RenderStart = z.strictObject({
  /** Kind of a built-in renderer. */
  renderer: z.string(),
  model: z.string(),
  arch: z.string().optional(),
})
export type RenderStart = z.infer<typeof RenderStart>

export const renderProtocol = {
  parent: {},
  child: {
    open: { params: RenderStart, result: z.null() },
    render: { params: z.array(z.array(ChatMessage)), result: z.custom<Rendered[]>() },
  },
} as const
