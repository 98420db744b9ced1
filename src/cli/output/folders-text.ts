// The score of an agent on task folders, as a person reads it.
import { decimalText, scoresTable } from './eval-text.ts'
import type { Output } from './output.ts'
import { table } from './table.ts'

export interface ShownFolders {
  readonly agent: string
  readonly model: string | null
  readonly benchmark: { readonly name: string }
  readonly n_tasks: number
  readonly n_trials: number
  readonly n_kept: number
  readonly metrics: Readonly<Record<string, number>>
  readonly intervals?: Readonly<Record<string, readonly [number, number]>>
  readonly bounds?: Readonly<Record<string, readonly [number, number]>>
  readonly n_infra_failed: number
  readonly failures?: readonly { readonly message: string; readonly count: number }[]
  readonly aborted?: string
  readonly trials: readonly {
    readonly task: string
    readonly attempt: number
    readonly reward: number | null
    readonly trial: string
  }[]
  readonly cost_usd: number | null
}

const mostTrials = 20

export function foldersText(
  shown: ShownFolders,
  { colors, width, place }: Pick<Output, 'colors' | 'width'> & { place: string },
): string {
  const { agent, model, benchmark, n_tasks, n_trials, n_kept, failures = [], trials, cost_usd } = shown
  const who = model === null ? agent : `${agent} with ${model}`
  const rows = trials
    .slice(0, mostTrials)
    .map((each) => [each.task, each.trial, each.reward === null ? 'open' : decimalText(each.reward)])
  const more = trials.length - rows.length
  return [
    `${colors.bold(who)} on ${benchmark.name}: ${n_tasks} tasks, ${n_trials} trials${n_kept === 0 ? '' : `, ${n_kept} of them from before`}`,
    table(rows, { head: ['TASK', 'TRIAL', 'REWARD'], width, paintHead: colors.bold }),
    ...(more > 0 ? [`and ${more} more`] : []),
    scoresTable(shown, { colors, width }),
    ...(shown.n_infra_failed === 0
      ? []
      : [
          `${shown.n_infra_failed} attempts have no score and count as the worst: ${failures.map(({ message, count }) => `${message} (${count})`).join('; ')}`,
        ]),
    ...(shown.aborted === undefined ? [] : [`stopped early: ${shown.aborted}`]),
    ...(cost_usd === null || cost_usd === 0 ? [] : [`cost ${decimalText(cost_usd)} USD`]),
    `kept in ${place}; with --output ${place} it goes on from there`,
  ].join('\n')
}
