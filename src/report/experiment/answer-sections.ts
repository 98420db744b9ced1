// Behind the scores: tables of metrics, class by class, which class was taken for which, and the answers that were wrong.
import type { Mistake, ResultTable } from '../../contracts/index.ts'
import { countText, numberText } from '../../kernel/index.ts'
import { clipped, html, type Markup } from '../html/markup.ts'
import type { Section } from '../html/page.ts'
import type { Judged } from './arm-sections.ts'
import { type ArmStyles, shortName } from './arm-styles.ts'

/** Rows and columns of a table that are shown. */
const mostCells = 60
const mostTables = 24

export function tablesSection({ result: { tables = [] }, styles }: Judged): Section | undefined {
  if (tables.length === 0) return undefined
  const order = ({ split }: ResultTable) => (split === 'val' ? 0 : 1)
  const [best] = tables
  const own = tables.filter(({ arm }) => arm === best?.arm).sort((a, b) => order(a) - order(b))
  const others = tables.filter(({ arm }) => arm !== best?.arm).slice(0, mostTables)
  const rest = tables.length - own.length - others.length
  const figures = (of: readonly ResultTable[]) =>
    html`<div class="figures">${of.map((each) => tableFigure(each, styles))}</div>`
  const more = rest === 0 ? undefined : html`<p class="muted">${countText(rest, 'more table')} are in the record.</p>`
  const arms = new Set(others.map(({ arm }) => arm)).size
  return {
    id: 'classes',
    title: 'Class by class',
    short: 'Classes',
    body: html`${figures(own)}${others.length === 0 ? undefined : html`<details><summary>${countText(arms, 'other arm')}</summary>${figures(others)}${more}</details>`}`,
  }
}

function tableFigure({ arm, benchmark, split, metric, n_runs, table }: ResultTable, styles: ArmStyles): Markup {
  const columns = table.columns.slice(0, mostCells)
  const rows = table.rows.slice(0, mostCells)
  const isCounts = table.column_title !== undefined // of what by what
  const mean = n_runs === 1 ? undefined : html`, mean of ${n_runs} runs`
  const corner = isCounts ? `${table.row_title ?? ''} \\ ${table.column_title ?? ''}` : (table.row_title ?? '')
  const body = rows.map((name, i) => {
    const cells = table.cells[i] ?? []
    const total = cells.reduce<number>((sum, each) => sum + (each ?? 0), 0)
    return html`<tr><th scope="row">${clipped(name, 60)}</th>${columns.map((column, j) => {
      const value = cells[j] ?? null
      const share = isCounts ? (total === 0 ? 0 : (value ?? 0) / total) : 0
      return isCounts
        ? heatCell(value, share, column === name)
        : html`<td class="n">${value === null ? '–' : numberText(Number(value.toPrecision(3)))}</td>`
    })}</tr>`
  })
  return html`<figure><figcaption><b>${metric}</b> on ${benchmark === split ? split : html`${benchmark} (${split})`} <span class="muted">${shortName(styles, arm)}${mean}</span></figcaption>
<div class="scroll" tabindex="0"><table class="${isCounts ? 'heat' : 'classes'}"><thead><tr><th scope="col">${corner}</th>${columns.map((column) => html`<th scope="col" class="n">${clipped(column, 40)}</th>`)}</tr></thead><tbody>${body}</tbody></table></div></figure>`
}

/** Darker: a larger share of its row. What is right has another colour than what is wrong. */
function heatCell(value: number | null, share: number, isRight: boolean): Markup {
  const percent = Math.round(60 * share)
  const colour = isRight ? '--confirmed' : '--failed'
  const text = value === null ? '–' : value === 0 ? '·' : numberText(Number(value.toPrecision(3)))
  return html`<td class="n" style="background:color-mix(in srgb,var(${colour}) ${percent}%,transparent)">${text}</td>`
}

/** Characters of a text that are shown. */
const mostChars = 600

export function mistakesSection({ result: { mistakes = [] } }: Judged): Section | undefined {
  const [first] = mistakes
  if (first === undefined) return undefined
  const benchmarks = [...new Set(mistakes.map(({ benchmark }) => benchmark))]
  const lists = benchmarks.map((benchmark) => {
    const own = mistakes.filter((each) => each.benchmark === benchmark)
    return html`<h3>${benchmark} <span class="muted">${own[0]?.split}, ${countText(own.length, 'task')}</span></h3><ol class="mistakes">${own.map(mistake)}</ol>`
  })
  return {
    id: 'mistakes',
    title: 'Wrong answers',
    short: 'Mistakes',
    body: html`<p class="muted">Of ${clipped(first.arm, 80)}, the tasks that most of its answers get wrong first. Values of known secrets are masked.</p>${lists}`,
  }
}

function mistake({ task_id, instruction, expected, answer, n_wrong, n_answers }: Mistake): Markup {
  const part = (title: string, text: string | null, kind: string) =>
    html`<div class="${kind}"><dt>${title}</dt><dd>${text === null || text === '' ? html`<span class="muted">(nothing)</span>` : clipped(text, mostChars)}</dd></div>`
  return html`<li><p class="task"><code>${clipped(task_id, 80)}</code> <span class="muted">wrong ${n_wrong} of ${n_answers}</span></p><dl>${part('asked', instruction, 'asked')}${part('expected', expected, 'expected')}${part('answered', answer, 'answered')}</dl></li>`
}
