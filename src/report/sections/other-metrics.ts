// What the scorer measures beside the score, and the memory of runs: the best held against the baseline.
import { numberText } from '../../kernel/index.ts'
import { dataTable } from '../html/data-table.ts'
import { type Content, clipped, html } from '../html/markup.ts'
import type { ReportContext } from './report-context.ts'

/** The first are shown. */
const mostRows = 20

export function otherMetrics({ input, figures }: ReportContext): Content {
  const before = figures.baseline?.reported.extra ?? {}
  const after = figures.champion?.reported.extra
  const names = Object.keys(before).slice(0, mostRows)
  if (names.length === 0) return undefined
  const guards = new Map((input.task.secondary ?? []).map((guard) => [guard.metric, guard]))
  return html`<h3>Other metrics</h3>${dataTable(names, [
    { title: 'metric', cell: (name) => clipped(name, 60) },
    { title: 'baseline', kind: 'n', cell: (name) => valueText(before[name]) },
    { title: 'best', kind: 'n', cell: (name) => valueText(after?.[name]) },
    { title: 'change', kind: 'n', cell: (name) => changeText(before[name], after?.[name]) },
    {
      title: 'may get worse by',
      kind: 'n',
      cell: (name) => {
        const guard = guards.get(name)
        return guard === undefined
          ? 'watched only'
          : `${numberText(100 * guard.tolerance)} % (${guard.direction === 'min' ? 'lower' : 'higher'} is better)`
      },
    },
  ])}`
}

function valueText(value: number | undefined): string {
  return value === undefined ? '–' : numberText(value)
}

function changeText(before: number | undefined, after: number | undefined): string {
  if (before === undefined || after === undefined || before === 0) return '–'
  const percent = (100 * (after - before)) / Math.abs(before)
  return `${percent > 0 ? '+' : percent < 0 ? '−' : ''}${Math.abs(percent).toFixed(Math.abs(percent) < 10 ? 1 : 0)} %`
}
