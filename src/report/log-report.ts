// An imported log as the data of a report. Its scores are claims, and the report says so.
import type { ExperimentRow, RunRow } from '../contracts/index.ts'
import { loadLab } from '../lab/index.ts'
import { logAttempts } from './log-attempts.ts'
import type { ResearchReportInput } from './research-report-input.ts'

export async function logReport(experiment: ExperimentRow, runs: readonly RunRow[]): Promise<ResearchReportInput> {
  const { logGains, scoredRow } = await loadLab()
  const { metric, direction } = experiment.plan.objective ?? { metric: 'score', direction: 'max' as const }
  const valid = runs.filter(({ invalid }) => invalid === undefined)
  const rows = valid.map((run) => ({ ...scoredRow(run, metric), extra: run.claimed ?? {} }))
  const sigma = logGains(rows, metric, direction).noise?.size
  const left = runs.length - valid.length
  return {
    task: { name: experiment.name, metric, direction },
    session: { id: experiment.id, startedAt: experiment.createdAt, claimedOnly: true },
    attempts: logAttempts(rows, { direction, sigma }),
    // What a seed changed is the difference of two runs, each with its own luck.
    ...(sigma === undefined ? {} : { noise: { sigma, seedSd: sigma / Math.SQRT2 } }),
    notes: [
      ...(left === 0 ? [] : [{ text: `${left} runs are marked invalid and left out.` }]),
      ...experiment.words.map(({ at, author, text }) => ({ at, author, text })),
    ],
  }
}
