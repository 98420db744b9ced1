// What a run and its trainer process send each other.
import * as z from 'zod'
import { engineKinds } from './engine-kinds.ts'

export const TrainerStart = z.strictObject({
  engine: z.enum(engineKinds),
  models: z.array(z.string()),
  project: z.string(),
  dir: z.string(),
  key: z.string(),
  socket: z.string().optional().describe('Listens here instead of on a port.'),
})
export type TrainerStart = z.infer<typeof TrainerStart>

export const trainerProtocol = {
  /** Settles when the trainer listens. */
  child: { open: { params: TrainerStart, result: z.strictObject({ url: z.string() }) } },
  /** What is worth logging before the trainer is ready. */
  parent: { notice: { params: z.string() } },
} as const
