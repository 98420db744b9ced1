// A score as a person reads it: each metric with its interval, what is missing, what it took.
import type { AnswerFailure, JudgeReport } from '../../contracts/index.ts'
import type { Output } from './output.ts'
import { table } from './table.ts'

interface ShownEval {
  readonly eval_id: string
  readonly model: string
  readonly benchmark: { readonly name: string; readonly split: string; readonly looks: number }
  readonly metrics: Readonly<Record<string, number>>
  readonly intervals?: Readonly<Record<string, readonly [number, number]>> | undefined
  readonly bounds?: Readonly<Record<string, readonly [number, number]>> | undefined
  readonly n_tasks: number
  readonly n_infra_failed: number
  readonly n_agent_failed?: number | undefined
  readonly failures?: readonly AnswerFailure[] | undefined
  readonly judge?: JudgeReport | undefined
  readonly scorer_hash: string
  readonly cost_usd: number | null
}

export function evalText(
  shown: ShownEval,
  { colors, width, folder }: Pick<Output, 'colors' | 'width'> & { folder: string },
): string {
  const { model, benchmark, n_tasks, n_infra_failed, n_agent_failed = 0, failures = [], judge, cost_usd } = shown
  const lines = [
    `${colors.bold(model)} on ${benchmark.name} (${folder}), ${n_tasks} tasks, scorer ${shown.scorer_hash.slice(0, 12)}`,
    scoresTable(shown, { colors, width }),
    ...(n_infra_failed === 0
      ? []
      : [`${n_infra_failed} answers have no score and count as the worst: ${causesText(failures, undefined)}`]),
    ...(n_agent_failed === 0
      ? []
      : [`in ${n_agent_failed} attempts the agent failed, each scored as wrong: ${causesText(failures, 'agent')}`]),
    ...(judge === undefined ? [] : [judgeText(judge)]),
    ...(cost_usd === null || cost_usd === 0 ? [] : [`cost ${decimalText(cost_usd)} USD`]),
    ...(benchmark.split === 'test' ? [`look ${benchmark.looks} at this test benchmark outside of experiments`] : []),
    `kept as ${shown.eval_id}`,
  ]
  return lines.join('\n')
}

function causesText(failures: readonly AnswerFailure[], cause: AnswerFailure['cause']): string {
  const own = failures.filter((each) => each.cause === cause)
  return own.map(({ message, count }) => `${message} (${count})`).join('; ')
}

/** Each metric with its interval and its bounds. */
export function scoresTable(
  { metrics, intervals, bounds }: Pick<ShownEval, 'metrics' | 'intervals' | 'bounds'>,
  { colors, width }: Pick<Output, 'colors' | 'width'>,
): string {
  const rows = Object.entries(metrics).map(([name, value]) => [
    name,
    decimalText(value),
    rangeText(intervals?.[name]),
    rangeText(bounds?.[name]),
  ])
  const head = ['METRIC', 'SCORE', '90 % INTERVAL', 'BOUNDS']
  return rows.length === 0 ? 'no score' : table(rows, { head, width, paintHead: colors.bold })
}

function judgeText({ calls, replayed, cost_usd, calibration, labels_failed = 0 }: JudgeReport): string {
  const cost = cost_usd === null ? 'unknown cost' : `${decimalText(cost_usd)} USD`
  const asked = `judge: ${calls} verdicts asked (${cost}), ${replayed} kept from before`
  const failed = labels_failed === 0 ? '' : `; no verdict on ${labels_failed} labelled answers`
  if (calibration === undefined) {
    return `${asked}; not calibrated${failed === '' ? ': the benchmark has no judge-labels.jsonl' : failed}`
  }
  const { n, agreement, agreement_ci, kappa, kappa_ci } = calibration
  const kappaText =
    kappa === null
      ? 'kappa undefined'
      : `kappa ${decimalText(kappa)}${kappa_ci === null ? '' : ` (${rangeText(kappa_ci)})`}`
  return `${asked}; agrees with ${n} labels in ${decimalText(agreement)} (${rangeText(agreement_ci)}), ${kappaText}${failed}`
}

/** Four significant digits. */
export function decimalText(value: number | undefined): string {
  if (value === undefined) return ''
  return value === 0 || Math.abs(value) >= 0.001 ? String(Number(value.toPrecision(4))) : value.toExponential(2)
}

function rangeText(range: readonly [number, number] | undefined): string {
  return range === undefined ? '' : `${decimalText(range[0])} to ${decimalText(range[1])}`
}
