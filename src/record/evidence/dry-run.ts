// A dry run (`--dry`) shows that a plan runs. Its runs are cut short, so it is no evidence for or against anything.
import * as z from 'zod'
import type { ExperimentRow } from '../../contracts/index.ts'

const Mark = z.object({ dry: z.literal(true) })

/** How the record marks a dry run, in the provenance of an experiment. */
export const dryRunMark: z.infer<typeof Mark> = { dry: true }

export function isDryRun({ provenance }: Pick<ExperimentRow, 'provenance'>): boolean {
  return Mark.safeParse(provenance).success
}
