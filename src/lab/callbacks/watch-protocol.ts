// What crosses between the controller and the process in which callbacks hear of an experiment as a whole.
import * as z from 'zod'
import { ExperimentResult, LogLevel, PluginSpec } from '../../contracts/index.ts'

export const WatchStart = z.strictObject({
  project_dir: z.string(),
  plugin_files: z.array(z.strictObject({ spec: z.string(), from: z.string() })),
  callbacks: z.array(PluginSpec),
})
export type WatchStart = z.infer<typeof WatchStart>

const scope = z.strictObject({
  experimentId: z.string(),
  experiment: z.string(),
  outputDir: z.string(),
  hypothesis: z.string().optional(),
})

export const ToWatch = z.discriminatedUnion('hook', [
  z.strictObject({ hook: z.literal('onExperimentStart'), scope }),
  z.strictObject({ hook: z.literal('onGroupStart'), scope, arm: z.string() }),
  z.strictObject({ hook: z.literal('onExperimentEnd'), scope, result: ExperimentResult }),
])
export type ToWatch = z.infer<typeof ToWatch>

export const FromWatch = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('log'), level: LogLevel, text: z.string() }),
  z.strictObject({ type: z.literal('heard') }),
])
export type FromWatch = z.infer<typeof FromWatch>
