// How the record marks an experiment that was read from a log: nothing here made its runs.
import * as z from 'zod'

export const LogSource = z.object({
  imported: z.object({
    kind: z.literal('log'),
    file: z.string(),
    decimals: z.int().min(0).max(20).describe('As the log writes its scores.'),
  }),
})
export type LogSource = z.infer<typeof LogSource>

export function isLogImport({ provenance }: { readonly provenance: unknown }): boolean {
  return LogSource.safeParse(provenance).success
}
