// An imported log as the data of a report. Its scores are claims, and the report says so.
import type { Attempt, Direction, ExperimentRow, IdeaCategory, RunRow } from '../../contracts/index.ts'
import type { ReportedAttempt, ResearchReportInput } from './report-input.ts'

export async function logReport(experiment: ExperimentRow, runs: readonly RunRow[]): Promise<ResearchReportInput> {
  const { logGains, scoredRow } = await import('../../record/index.ts')
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
    noise: sigma === undefined ? undefined : { sigma, seedSd: sigma / Math.SQRT2 },
    notes: [
      ...(left === 0 ? [] : [{ text: `${left} runs are marked invalid and left out.` }]),
      ...experiment.words.map(({ at, author, text }) => ({ at, author, text })),
    ],
  }
}

// A log of research that others wrote, as attempts of a session. Its scores are claims; kinds of change are guessed from its words.
/** A row of the log, from its file or from the record of its import. */
interface LoggedRow {
  readonly name: string
  readonly description: string
  readonly status: 'keep' | 'discard' | 'crash'
  readonly score: number | undefined
  readonly extra?: Readonly<Record<string, number>> | undefined
}

/** Rows as attempts; the first is the baseline. `sigma` is what a seed alone changes a difference by, where that is known. */
export function logAttempts(
  rows: readonly LoggedRow[],
  { direction, sigma }: { direction: Direction; sigma?: number | undefined },
): ReportedAttempt[] {
  let incumbent: { id: string; score: number } | undefined
  return rows.map((row, number) => {
    const id = `${number}`
    const base = incumbent
    const gain = base === undefined || row.score === undefined ? undefined : (row.score - base.score) * sign(direction)
    if (row.status === 'keep' && row.score !== undefined) incumbent = { id, score: row.score }
    return { attempt: attemptOf(row, { id, number, parent: base?.id, gain, sigma }), extra: row.extra }
  })
}

// The kind of change that the words of a log speak of. The first that fits counts, so the narrower ones come first.
const patterns: readonly (readonly [IdeaCategory, RegExp])[] = [
  ['regularization', /weight.?decay|\bwd\b|dropout|regulari[sz]|label.?smooth|z.?loss|clip|augment|softcap/i],
  [
    'optimizer',
    /\blrs?\b|learning.?rate|momentum|beta|adam|muon|warm.?up|warm.?down|cool.?down|schedule|optimi[sz]er|\bns\b|newton|batch/i,
  ],
  [
    'architectural',
    /depth|width|layer|head|attention|window|mlp|ffn|activation|gelu|relu|swiglu|norm|rope|rotary|embed|residual|init|dim|ratio|gate|kv|skip/i,
  ],
]

function attemptOf(
  row: LoggedRow,
  place: {
    id: string
    number: number
    parent?: string | undefined
    gain: number | undefined
    sigma: number | undefined
  },
): Attempt {
  const { id, number, parent, gain, sigma } = place
  const [category] = patterns.find(([, pattern]) => pattern.test(row.description)) ?? ['hyperparameter' as const]
  return {
    id,
    number,
    parents: parent === undefined ? [] : [parent],
    title: row.description === '' ? row.name : row.description,
    hypothesis: '',
    family: category,
    category,
    mode: 'improve',
    knobs: {},
    fingerprint: row.name,
    lines: 0,
    scores: row.score === undefined ? [] : [{ seed: 0, value: row.score, secondary: {} }],
    // Two single runs: without any knowledge of noise no gain can be weighed.
    gain: gain === undefined || sigma === undefined ? undefined : { mean: gain, n: 1, sigma },
    verdict: row.status === 'keep' ? 'provisional' : row.status === 'discard' ? 'discarded' : 'failed',
    failure: row.status === 'crash' ? { class: 'crash', reason: 'the log says that it crashed' } : undefined,
  }
}

function sign(direction: Direction): number {
  return direction === 'max' ? 1 : -1
}
