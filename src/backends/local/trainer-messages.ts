// What a run and its trainer process tell each other: how to start, then that it is ready, with notices before it.
import * as z from 'zod'
import { engineKinds } from './engine-kinds.ts'

export const TrainerStart = z.strictObject({
  engine: z.enum(engineKinds),
  models: z.array(z.string()),
  project: z.string(),
  dir: z.string(),
  key: z.string(),
})
export type TrainerStart = z.infer<typeof TrainerStart>

/** What is worth telling before the trainer is ready. */
export const TrainerNotice = z.strictObject({ notice: z.string() })
export type TrainerNotice = z.infer<typeof TrainerNotice>

export const TrainerReady = z.union([
  z.strictObject({ url: z.string() }),
  z.strictObject({ error: z.looseObject({ code: z.string(), message: z.string(), fix: z.string().optional() }) }),
])
export type TrainerReady = z.infer<typeof TrainerReady>
