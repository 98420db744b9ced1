// What `research bench` measured, for people.
import { visibleText } from '../../kernel/index.ts'
import type { AdversaryReport, BenchResult, ChaosRow, KillerRow } from '../../research/index.ts'
import type { Output } from './output.ts'
import { table } from './table.ts'

export type BenchDocument = Omit<BenchResult, 'results'> & {
  readonly repeats: number
  readonly budget: number
  readonly seed: number
  readonly results: readonly (BenchResult['results'][number] & Partial<Pick<KillerRow, 'time'>>)[]
  readonly adversary?: AdversaryReport
  readonly chaos?: readonly ChaosRow[]
}

type Style = Pick<Output, 'width' | 'colors'>

export function benchText(document: BenchDocument, style: Style): string {
  const { results, flat, adversary, chaos } = document
  const parts = [
    [...searchText(document, style), ...flat.map(({ table, why }) => `${table}: flat, not counted: ${why}.`)],
    timeText(results, style),
    adversary === undefined ? [] : adversaryText(adversary, style),
    chaos === undefined ? [] : chaosText(chaos, style),
  ]
  return parts.flatMap((lines) => (lines.length === 0 ? [] : [lines.join('\n')])).join('\n\n')
}

function searchText({ results, comparisons }: BenchDocument, { width, colors }: Style): string[] {
  if (results.length === 0) return []
  const rows = results.map(({ table, strategy, par2, reach, ci }) => {
    const other = comparisons.find((each) => each.table === table && each.baseline === strategy)
    return [
      table,
      strategy,
      par2.toFixed(1),
      `${ci[0].toFixed(1)} to ${ci[1].toFixed(1)}`,
      percent(reach),
      other === undefined
        ? ''
        : `${percent(other.saved)} (${percent(other.saved_ci[0])} to ${percent(other.saved_ci[1])})`,
    ]
  })
  const firsts = [...new Set(comparisons.map(({ strategy }) => strategy))]
  const head = ['table', 'strategy', 'PAR2', '95 %', 'reach', `saved by ${firsts.join(' or ') || results[0]?.strategy}`]
  return [table(rows, { head, width, paintHead: colors.bold })]
}

function timeText(results: BenchDocument['results'], { width, colors }: Style): string[] {
  const rows = results.flatMap(({ table, strategy, time }) => {
    if (time === undefined) return []
    const { runs, killed, winners, winners_killed, regret, audited_regret, audited, audit_bias } = time
    const bias = audit_bias === null ? '' : ` (${audit_bias.map((end) => end.toFixed(3)).join(' to ')})`
    return [
      [
        table,
        strategy,
        percent(time.saved),
        `${killed} of ${runs}`,
        `${winners_killed} of ${winners}`,
        regret.toFixed(3),
        audited_regret === null ? '' : `${audited_regret.toFixed(3)} by ${audited}${bias}`,
      ],
    ]
  })
  if (rows.length === 0) return []
  const head = ['table', 'ended by', 'time saved', 'runs ended', 'winners ended', 'regret', 'audited (bias, 95 %)']
  return [table(rows, { head, width, paintHead: colors.bold })]
}

function adversaryText(report: AdversaryReport, { width, colors }: Style): string[] {
  const { level, isolation, attacks, blocked, scored_truly, got_through, unclear, honest, honest_blocked } = report
  if (level === null)
    return [`adversary: nothing was run, candidates cannot be shut in here: ${visibleText(isolation)}`]
  const rows = [
    ['attacks that were blocked', `${blocked} of ${attacks}`],
    ['attacks that were scored truly', `${scored_truly} of ${attacks}`],
    ['attacks that got something', `${got_through} of ${attacks}`],
    ...(unclear > 0 ? [['attacks in which the machine failed', `${unclear} of ${attacks}`]] : []),
    ['attacks that reading finds', `${report.turned_down_by_reading} of ${attacks}`],
    ['honest candidates that were blocked', `${honest_blocked} of ${honest}`],
  ]
  const told = [
    ...report.results.flatMap(({ attack, ended, why = '' }) =>
      ended === 'got through' || ended === 'unclear' ? [`${ended}: it ${attack}: ${why}`] : [],
    ),
    ...report.honest_faults.map(({ candidate, why }) => `blocked: honest, ${candidate}: ${why}`),
    ...report.skipped.map(({ what, why }) => `skipped: ${what}: ${why}`),
  ]
  return [
    `isolation: ${level}; ${isolation}`,
    table(rows, { head: ['adversary', ''], width, paintHead: colors.bold }),
    ...told.map((line) => visibleText(line)),
  ]
}

function chaosText(chaos: readonly ChaosRow[], { width, colors }: Style): string[] {
  const rows = chaos.map(({ disturbance, sessions, disturbed, equal, calls_sent_again, skipped }) =>
    skipped === undefined
      ? [disturbance, String(sessions), String(disturbed), `${equal} of ${sessions}`, String(calls_sent_again)]
      : [disturbance, 'skipped', '', '', ''],
  )
  const head = ['disturbance', 'sessions', 'met', 'equal record', 'calls sent again']
  const told = chaos.flatMap(({ disturbance, skipped, faults }) => [
    ...(skipped === undefined ? [] : [`${disturbance}: skipped: ${skipped}`]),
    ...faults.map((fault) => `${disturbance}: ${fault}`),
  ])
  return [table(rows, { head, width, paintHead: colors.bold }), ...told.map((line) => visibleText(line))]
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`
}
