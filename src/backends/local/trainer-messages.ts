// What a run and its trainer process tell each other, once each.
import * as z from 'zod'

export const TrainerStart = z.strictObject({
  engine: z.enum(['reference', 'mock']),
  models: z.array(z.string()),
  project: z.string(),
  dir: z.string(),
  key: z.string(),
})
export type TrainerStart = z.infer<typeof TrainerStart>

export const TrainerReady = z.union([
  z.strictObject({ url: z.string() }),
  z.strictObject({ error: z.looseObject({ code: z.string(), message: z.string(), fix: z.string().optional() }) }),
])
export type TrainerReady = z.infer<typeof TrainerReady>
