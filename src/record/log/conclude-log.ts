// The conclusion of an experiment that was read from a log, from what the record holds of it: written at its import, and again
// when one of its runs is marked invalid.

import * as z from 'zod'
import type { Direction, RunRow } from '../../contracts/index.ts'
import { type Clock, EvsysError } from '../../kernel/index.ts'
import type { ExperimentRow, OpenStore } from '../../store/index.ts'
import { evidenceOf } from '../evidence/evidence-of.ts'
import type { LogRow, LogStatus } from './read-results-log.ts'

export async function concludeLog(store: OpenStore, experiment: ExperimentRow, clock: Clock): Promise<void> {
  const { evidence, runs } = await evidenceOf(store, experiment)
  await store.verdicts.evidence(experiment.id, evidence, { wallS: 0 })
  const stream = `experiment:${experiment.id}`
  const { nextEvent } = await store.cursor(stream)
  await store.append(stream, nextEvent - 1, [
    {
      type: 'experiment.finished',
      seq: nextEvent,
      at: new Date(clock.now()).toISOString(),
      experiment_id: experiment.id,
      status: evidence.n_completed === 0 ? 'failed' : 'completed',
      verdict: evidence.verdict,
      conclusion: textOf(
        experiment,
        runs.map(({ run }) => run),
      ),
    },
  ])
}

function textOf({ plan, provenance }: ExperimentRow, runs: readonly RunRow[]): string {
  const { metric, direction } = plan.objective ?? { metric: 'score', direction: 'max' as const }
  const { decimals } = LogSource.parse(provenance).imported
  const valid = runs.filter((run) => run.invalid === undefined)
  const left = runs.length - valid.length
  const text = logConclusion(
    logGains(
      valid.map((run) => scoredRow(run, metric)),
      metric,
      direction,
    ),
    decimals,
  )
  return left === 0 ? text : `${text} ${left} ${left === 1 ? 'run is' : 'runs are'} marked invalid and left out.`
}

/** A run of the record as a row of the log that it came from. */
export function scoredRow(run: RunRow, metric: string): ScoredRow {
  return {
    name: run.name,
    description: run.description ?? '',
    status: run.status === 'failed' ? 'crash' : run.kept === true ? 'keep' : 'discard',
    score: run.claimed?.[metric],
  }
}

// What a log of research shows, in words.

/** `decimals`: as many as the log writes its scores with. */
function logConclusion(gains: LogGains, decimals: number): string {
  const { counts, metric, direction, from, to } = gains
  const runs = counts.keep + counts.discard + counts.crash
  const digits = (value: number) => value.toFixed(decimals)
  const sentences = [
    `Imported log of ${count(runs, 'run')}: ${counts.keep} kept, ${counts.discard} discarded, ${counts.crash} crashed.`,
    ...(from === undefined || to === undefined
      ? []
      : [
          `${metric} went from ${digits(from)} to ${digits(to)} (${direction === 'min' ? 'lower' : 'higher'} is better).`,
        ]),
    ...noiseSentences(gains, digits),
    'Scores are those that the log claims; none was measured here.',
  ]
  return sentences.join(' ')
}

function noiseSentences({ gains, noise, lucky, metric }: LogGains, digits: (value: number) => string): string[] {
  if (gains.length === 0) return []
  if (noise === undefined || lucky === undefined) {
    return ['No row changes the seed alone, so the log does not show which gains are larger than chance.']
  }
  const rows =
    noise.rows.length === 1 ? 'One row changes only the seed' : `${noise.rows.length} rows change only the seed`
  const total = gains.reduce((sum, { gain }) => sum + gain, 0)
  return [
    `${rows}, and ${metric} moved by ${digits(noise.size)}: that is noise.`,
    `${lucky.count} of ${count(gains.length, 'kept gain')} ${lucky.count === 1 ? 'is' : 'are'} smaller than that; together they make ${digits(lucky.sum)} of the ${digits(total)} gained.`,
  ]
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`
}

// What a log of research shows about itself: how much every kept change gained, and how much the score moves when nothing but
// the seed changes. A gain smaller than that may be luck.

/** What is needed of a row, from the log itself or from the record of its import. */
export type ScoredRow = Pick<LogRow, 'name' | 'description' | 'status'> & { readonly score: number | undefined }

interface LogGains {
  readonly metric: string
  readonly direction: Direction
  readonly counts: Readonly<Record<LogStatus, number>>
  /** Scores of the first kept row, which is the baseline, and of the last. */
  readonly from: number | undefined
  readonly to: number | undefined
  /** Of every kept row after the first: improvement over the kept row before it. */
  readonly gains: readonly { readonly name: string; readonly gain: number }[]
  /** Root mean square of what a seed alone changed, and by which rows it is known. Absent: the log does not show it. */
  readonly noise?: { readonly size: number; readonly rows: readonly string[] } | undefined
  /** Gains below the noise, and their sum; absent without noise. */
  readonly lucky?: { readonly count: number; readonly sum: number } | undefined
}

/** Weighs the gains of a log. Without `direction` the kept rows tell which way is better. */
export function logGains(rows: readonly ScoredRow[], metric: string, direction?: Direction): LogGains {
  const kept = rows.flatMap(({ name, status, score }) =>
    status === 'keep' && score !== undefined ? [{ name, score }] : [],
  )
  const way = direction ?? directionOf(kept, metric)
  const sign = way === 'min' ? -1 : 1
  const gains = kept.slice(1).map(({ name, score }, i) => ({ name, gain: sign * (score - (kept[i]?.score ?? score)) }))
  const noise = noiseOf(rows)
  const below = noise === undefined ? undefined : gains.filter(({ gain }) => gain < noise.size)
  return {
    metric,
    direction: way,
    counts: countsOf(rows),
    from: kept[0]?.score,
    to: kept.at(-1)?.score,
    gains,
    noise,
    lucky:
      below === undefined ? undefined : { count: below.length, sum: below.reduce((sum, { gain }) => sum + gain, 0) },
  }
}

// Rows are kept because they are better.
function directionOf(kept: readonly { score: number }[], metric: string): Direction {
  const steps = kept.slice(1).map(({ score }, i) => Math.sign(score - (kept[i]?.score ?? score)))
  const balance = steps.reduce((sum, step) => sum + step, 0)
  if (balance !== 0) return balance < 0 ? 'min' : 'max'
  throw new EvsysError('CLI_USAGE', `the kept rows do not tell whether a low or a high ${metric} is better`, {
    fix: 'say it: --direction min, or --direction max.',
  })
}

// The row differs from the kept row before it in its seed alone, so the difference of their scores is noise.
function noiseOf(rows: readonly ScoredRow[]): LogGains['noise'] {
  const moves: { name: string; move: number }[] = []
  let incumbent: number | undefined
  for (const { name, description, status, score } of rows) {
    if (score !== undefined && incumbent !== undefined && changesSeedAlone(description)) {
      moves.push({ name, move: score - incumbent })
    }
    if (status === 'keep' && score !== undefined) incumbent = score
  }
  if (moves.length === 0) return undefined
  const size = Math.sqrt(moves.reduce((sum, { move }) => sum + move ** 2, 0) / moves.length)
  return { size, rows: moves.map(({ name }) => name) }
}

/** "random seed 42 to 137", "only the seed changed", "rerun with another seed": nothing but a seed is named. */
export function changesSeedAlone(description: string): boolean {
  const words = description.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []
  return words.some((word) => /^seeds?$/.test(word)) && words.every((word) => besideSeed.test(word))
}

const besideSeed =
  /^(?:seeds?|random|rng|torch|numpy|global|training|init|new|other|another|different|fresh|only|just|the|a|from|to|of|with|and|change[ds]?|changing|re|run|rerun|repeat(?:ed)?|again|same|config|baseline|control|noise|check|\d+)$/

function countsOf(rows: readonly { status: LogStatus }[]): Record<LogStatus, number> {
  const count = (status: LogStatus) => rows.filter((row) => row.status === status).length
  return { keep: count('keep'), discard: count('discard'), crash: count('crash') }
}

// How the record marks an experiment that was read from a log: nothing here made its runs.
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
