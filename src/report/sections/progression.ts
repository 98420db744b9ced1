import { countText } from '../../kernel/index.ts'
import { progressionChart } from '../charts/progression-chart.ts'
import type { Fate } from '../figures/placed-attempt.ts'
import { html, type Markup } from '../html/markup.ts'
import type { Section } from '../html/page.ts'
import { fateWord } from '../words/fate-word.ts'
import type { ReportContext } from './report-context.ts'

/** The chart of all attempts, with its legend. */
export function progression({ figures, words, input }: ReportContext): Section {
  const base = { id: 'progression', title: 'Progression', short: 'Progression' }
  const drawn = progressionChart(figures, words)
  if (drawn === undefined) return { ...base, body: html`<p>No attempt has a score yet.</p>` }
  const { seedSd } = figures.noise
  const better = input.task.direction === 'min' ? 'Lower' : 'Higher'
  const remarks = [
    `${better} is better.`,
    seedSd === undefined
      ? 'How much a seed alone moves the score is not known, so there is no band.'
      : `The band holds nine of ten single runs of the best candidate: a dot inside it may differ from the line by luck alone (one seed moves the score by ${words.noise(seedSd)}, one standard deviation).`,
    ...(drawn.beyond === 0
      ? []
      : [
          `${countText(drawn.beyond, 'score')} beyond the axis ${drawn.beyond === 1 ? 'stands' : 'stand'} at its edge.`,
        ]),
    ...(drawn.leftOut === 0
      ? []
      : [
          `${countText(drawn.leftOut, 'dot')} of changes that were not kept ${drawn.leftOut === 1 ? 'is' : 'are'} left out.`,
        ]),
  ]
  const fates = legendOrder.filter((fate) => figures.placed.some((each) => each.fate === fate))
  return {
    ...base,
    body: html`<figure>${drawn.chart}
<ul class="legend">${fates.map(legendItem)}<li><svg viewBox="0 0 24 12" aria-hidden="true"><path class="line" d="M1 6H23"/></svg>best so far</li>${seedSd === undefined ? undefined : bandItem}</ul>
<figcaption>${remarks.join(' ')} <a href="#attempts">All numbers are in the table.</a></figcaption></figure>`,
  }
}

const bandItem = html`<li><svg viewBox="0 0 24 12" aria-hidden="true"><path class="area" d="M1 1H23V11H1Z"/></svg>luck of one run</li>`

const legendOrder: readonly Fate[] = [
  'baseline',
  'confirmed',
  'provisional',
  'inconclusive',
  'discarded',
  'failed',
  'running',
]

function legendItem(fate: Fate): Markup {
  return html`<li><svg viewBox="0 0 24 12" aria-hidden="true"><g class="dot ${fate}"><path d="M12 6h.01"/></g></svg>${fateWord(fate)}</li>`
}
