// A session as a table with tabs. The first columns are those of the `results.tsv` that other loops write (commit, metric, memory_gb,
// status, description), so that their tools read it; then ours. What is missing is an empty cell, never 0, which would be the best of all.
import type { FailureClass } from '../contracts/index.ts'
import { isKept, type PlacedAttempt, placeAttempts } from './figures/placed-attempt.ts'
import type { ReportedAttempt, ResearchReportInput } from './input/report-input.ts'

/** Writes the attempts of a session, one line each, under a line of column names. */
export function resultsTsv({ task, attempts }: ResearchReportInput): string {
  const extras = [...new Set(attempts.flatMap(({ extra = {} }) => Object.keys(extra)))].filter(
    (key) => key !== task.metric,
  )
  const reserved = new Set(['commit', 'memory_gb', 'status', 'description', ...ours.map(([name]) => name)])
  const own = extras.filter((key) => !reserved.has(key))
  const metric = reserved.has(task.metric) ? `score_${task.metric}` : task.metric
  const head = ['commit', metric, 'memory_gb', 'status', 'description', ...ours.map(([name]) => name), ...own]
  // What is still raced has no result, so it has no row yet.
  const ended = placeAttempts(attempts).filter(({ outcome }) => outcome !== 'running')
  const rows = ended.map((placed) => [
    nameOf(placed.reported),
    number(statusOf(placed) === 'crash' ? undefined : placed.score),
    number(placed.reported.extra?.memory_gb),
    statusOf(placed),
    placed.attempt.title,
    ...ours.map(([, cell]) => cell(placed)),
    ...own.map((key) => number(placed.reported.extra?.[key])),
  ])
  return [head, ...rows].map((cells) => `${cells.map(cellText).join('\t')}\n`).join('')
}

const ours: readonly (readonly [name: string, cell: (placed: PlacedAttempt) => string])[] = [
  ['number', ({ attempt }) => String(attempt.number)],
  ['verdict', ({ outcome }) => outcome],
  ['failure', ({ attempt }) => (attempt.failure?.class ?? '') satisfies FailureClass | ''],
  ['gain', ({ attempt }) => number(attempt.gain?.mean)],
  ['gain_sigma', ({ attempt }) => number(attempt.gain?.sigma)],
  ['n_seeds', ({ attempt }) => String(attempt.scores.length)],
  ['seeds', ({ attempt }) => attempt.scores.map(({ seed }) => seed).join(' ')],
  ['category', ({ attempt }) => attempt.category],
  ['family', ({ attempt }) => attempt.family],
  ['mode', ({ attempt }) => attempt.mode],
  ['parent', ({ attempt }) => attempt.parents[0] ?? ''],
  ['cost_usd', ({ reported }) => number(reported.costUsd)],
  ['wall_s', ({ reported }) => number(reported.wallS)],
  ['hypothesis', ({ attempt }) => attempt.hypothesis],
]

// Logs know three words. What failed crashed, also where some of its seeds had a score; what is not known to be better was not kept.
function statusOf(placed: PlacedAttempt): 'keep' | 'discard' | 'crash' {
  if (placed.score === undefined || placed.outcome === 'failed') return 'crash'
  return isKept(placed) || placed.outcome === 'baseline' ? 'keep' : 'discard'
}

function nameOf({ attempt }: ReportedAttempt): string {
  return cellText(attempt.id) === '' ? String(attempt.number) : attempt.id
}

// As many digits as distinguish the number from all others.
function number(value: number | undefined): string {
  return value === undefined || !Number.isFinite(value) ? '' : String(value)
}

// Tabs and line breaks would begin another cell or row.
function cellText(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
}
