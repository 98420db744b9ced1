// How a session went: the chart of all attempts, with its legend and its axes.
import { countText } from '../../kernel/index.ts'
import { isKept, type Outcome, type PlacedAttempt } from '../figures/placed-attempt.ts'
import type { SessionFigures } from '../figures/session-figures.ts'
import { type NumberWords, outcomeWord } from '../figures/value-text.ts'
import { clipped, html, type Markup, present } from '../html/markup.ts'
import type { Section } from '../html/page.ts'
import { coordinate, linearScale, percent, plot, tickDecimals } from '../html/plot.ts'
import type { ReportContext } from './report-context.ts'
import { linePx, type PlacedLabel, placeLabels } from './step-labels.ts'

/** The chart of all attempts, with its legend. */
export function progression({ figures, words, input }: ReportContext): Section {
  const base = { id: 'progression', title: 'Progression', short: 'Progression' }
  const drawn = progressionChart(figures, words, input.task.bounds)
  if (drawn === undefined) return { ...base, body: html`<p>No attempt has a score yet.</p>` }
  const { seedSd } = figures.noise
  const better = input.task.direction === 'min' ? 'Lower' : 'Higher'
  const remarks = present(
    `${better} is better.`,
    seedSd === undefined
      ? 'How much a seed alone moves the score is not known, so there is no band.'
      : `The band holds nine of ten single runs of the best candidate: a dot inside it may differ from the line by luck alone (one seed moves the score by ${words.noise(seedSd)}, one standard deviation).`,
    drawn.beyond === 0
      ? undefined
      : `${countText(drawn.beyond, 'score')} beyond the axis ${drawn.beyond === 1 ? 'stands' : 'stand'} at its edge.`,
    drawn.leftOut === 0
      ? undefined
      : `${countText(drawn.leftOut, 'dot')} of changes that were not kept ${drawn.leftOut === 1 ? 'is' : 'are'} left out.`,
  )
  const outcomes = legendOrder.filter((outcome) => figures.placed.some((each) => each.outcome === outcome))
  return {
    ...base,
    body: html`<figure>${drawn.chart}
<ul class="legend">${outcomes.map(legendItem)}<li><svg viewBox="0 0 24 12" aria-hidden="true"><path class="line" d="M1 6H23"/></svg>best so far</li>${seedSd === undefined ? undefined : bandItem}</ul>
<figcaption>${remarks.join(' ')} <a href="#attempts">All numbers are in the table.</a></figcaption></figure>`,
  }
}

const bandItem = html`<li><svg viewBox="0 0 24 12" aria-hidden="true"><path class="area" d="M1 1H23V11H1Z"/></svg>luck of one run</li>`

const legendOrder: readonly Outcome[] = [
  'baseline',
  'confirmed',
  'provisional',
  'inconclusive',
  'discarded',
  'failed',
  'running',
]

function legendItem(outcome: Outcome): Markup {
  return html`<li><svg viewBox="0 0 24 12" aria-hidden="true"><g class="dot ${outcome}"><path d="M12 6h.01"/></g></svg>${outcomeWord(outcome)}</li>`
}

/** Dots of discarded attempts beyond this are left out: they lie upon each other. */
const mostDots = 1500
/** Share of the height that the strip of failures takes. */
const strip = 0.07
const heightPx = 380

/** What the metric can be, where that is known. */
type Bounds = NonNullable<ReportContext['input']['task']['bounds']>

/**
 * Every attempt a dot by its verdict, the incumbent a line, and around it the band in which one run of the incumbent falls by chance.
 * Attempts without a score are in a strip below.
 */
function progressionChart(figures: SessionFigures, words: NumberWords, bounds: Bounds = {}) {
  const range = progressionRange(figures, bounds)
  if (range === undefined) return undefined
  const { placed, direction } = figures
  const x = linearScale(0, Math.max(1, placed.at(-1)?.attempt.number ?? 1), 8)
  const y = linearScale(range.low, range.high, 6)
  const decimals = tickDecimals(y)
  const shown = thinned(placed)
  const hasStrip = placed.some(({ score }) => score === undefined)
  const height = hasStrip ? 1 - strip : 1
  const place: Place = {
    x: (number) => coordinate(0.01 + 0.98 * x.at(number)),
    y: (value) => coordinate((1 - y.at(value)) * height),
    failed: coordinate(1 - strip / 2),
  }
  const last = placed.at(-1)
  const label = `Scores of ${placed.length} attempts in their order, ${direction === 'min' ? 'lower' : 'higher'} is better; the best so far went from ${words.score(figures.baseline?.score)} to ${words.score(last?.after)}. The table below holds all numbers.`
  const { labels, laneRows } = labelsOf(figures, shown, { place, words })
  const drawing = [
    hasStrip ? html`<path class="strip" d="M0 ${coordinate(height)}H1000V1000H0Z"/>` : undefined,
    band(figures, place, bounds),
    labels.flatMap(({ isInLane, x: at, to }) => (isInLane ? [leader(at, to)] : [])),
    html`<path class="best" d="${steps(placed, place)}"/>`,
    order.map((outcome) => dots(shown, outcome, place, words)),
  ]
  return {
    chart: plot({
      label,
      drawing,
      over: labels.map(labelMarkup),
      abovePx: laneRows === 0 ? 0 : laneRows * linePx + 6,
      xTicks: x.ticks.map((tick) => ({ at: 0.01 + 0.98 * x.at(tick), text: String(tick) })),
      yTicks: [
        ...y.ticks.map((tick) => ({ at: 1 - (1 - y.at(tick)) * height, text: tick.toFixed(decimals) })),
        ...(hasStrip ? [{ at: strip / 2, text: 'failed' }] : []),
      ],
      xTitle: 'experiment',
      heightPx,
    }),
    beyond: range.beyond,
    leftOut: placed.length - shown.length,
  }
}

interface Place {
  readonly x: (number: number) => string
  readonly y: (value: number) => string
  readonly failed: string
}

// What was kept lies on top.
const order: readonly Outcome[] = [
  'failed',
  'discarded',
  'running',
  'inconclusive',
  'provisional',
  'baseline',
  'confirmed',
]

function thinned(placed: readonly PlacedAttempt[]): readonly PlacedAttempt[] {
  if (placed.length <= mostDots) return placed
  const every = Math.ceil(placed.length / mostDots)
  return placed.filter((each, i) => i % every === 0 || isKept(each) || each.outcome === 'baseline')
}

function dots(placed: readonly PlacedAttempt[], outcome: Outcome, place: Place, words: NumberWords): Markup {
  const own = placed.filter((each) => each.outcome === outcome)
  const at = ({ attempt, score }: PlacedAttempt) =>
    `M${place.x(attempt.number)} ${score === undefined ? place.failed : place.y(score)}h.01`
  const halo = isKept({ outcome }) ? html`<path class="halo" d="${own.map(at).join('')}"/>` : undefined
  const each = own.map((one) => html`<path d="${at(one)}"><title>${titleOf(one, words)}</title></path>`)
  return own.length === 0 ? html`` : html`${halo}<g class="dot ${outcome}">${each}</g>`
}

function titleOf({ attempt, outcome, score }: PlacedAttempt, words: NumberWords): string {
  const scored = score === undefined ? (attempt.failure?.class ?? 'no score') : words.score(score)
  return `${attempt.number}: ${clipped(attempt.title, 90)}\n${outcomeWord(outcome)}, ${scored}`
}

function steps(placed: readonly PlacedAttempt[], place: Place): string {
  let path = ''
  let level: number | undefined
  for (const { attempt, after } of placed) {
    if (after === undefined || after === level) continue
    const [x, y] = [place.x(attempt.number), place.y(after)]
    path += path === '' ? `M${x} ${y}` : `H${x}V${y}`
    level = after
  }
  return path === '' ? '' : `${path}H${place.x(placed.at(-1)?.attempt.number ?? 0)}`
}

// 1.64 standard deviations to each side hold nine runs of ten.
function band({ placed, noise }: SessionFigures, place: Place, { least, most }: Bounds): Markup | undefined {
  if (noise.seedSd === undefined || noise.seedSd === 0) return undefined
  const reach = 1.64 * noise.seedSd
  const shifted = (by: number) => {
    // No run scores more than the metric can be.
    const within = (value: number) => Math.min(most ?? value, Math.max(least ?? value, value))
    const moved = placed.map((each) => (each.after === undefined ? each : { ...each, after: within(each.after + by) }))
    return steps(moved, place)
  }
  const upper = shifted(reach)
  const lower = shifted(-reach)
  return upper === '' ? undefined : html`<path class="band" d="${upper}${reversed(lower)}Z"/>`
}

// The way back along a path of steps: M x y (H x V y)* H x.
function reversed(path: string): string {
  const numbers = path.match(/[MHV][^MHV]+/g) ?? []
  const points: [string, string][] = []
  for (const part of numbers) {
    const [x = '0', y = '0'] = points.at(-1) ?? []
    const value = part.slice(1)
    const [first = '0', second = '0'] = value.split(' ')
    points.push(part[0] === 'M' ? [first, second] : part[0] === 'H' ? [value, y] : [x, value])
  }
  return points
    .reverse()
    .map(([x, y]) => `L${x} ${y}`)
    .join('')
}

/** Titles are clipped to this. */
const longestTitle = 30

// A label for every step that was kept: its title and gain where there is room, else its number.
function labelsOf({ kept, placed: all }: SessionFigures, shown: readonly PlacedAttempt[], { place, words }: Labelling) {
  const share = (text: string) => Number(text) / 1000
  const dots = shown.map(({ attempt, score }) => ({
    x: share(place.x(attempt.number)),
    y: share(score === undefined ? place.failed : place.y(score)),
  }))
  const steps = kept.flatMap(({ placed: { attempt, score }, raw }) => {
    if (score === undefined) return []
    const gain = raw === undefined ? '' : ` ${words.gain(raw)}`
    const title = clipped(attempt.title, longestTitle)
    const texts = [`${attempt.number} ${title}${gain}`, `${attempt.number}${gain}`, String(attempt.number)]
    return [{ x: share(place.x(attempt.number)), y: share(place.y(score)), texts }]
  })
  const { labels, laneRows } = placeLabels(steps, { dots, line: pointsOf(all, place), heightPx })
  return { labels: labels.map((label) => ({ ...label, to: steps[label.step]?.y ?? 0 })), laneRows }
}

// The line of the best so far, closely enough that no label fits between two points of it.
function pointsOf(placed: readonly PlacedAttempt[], place: Place): { x: number; y: number }[] {
  const corners = placed.flatMap(({ attempt, after }) =>
    after === undefined ? [] : [{ x: Number(place.x(attempt.number)) / 1000, y: Number(place.y(after)) / 1000 }],
  )
  return corners.flatMap((to, i) => {
    const from = corners[i - 1] ?? to
    const across = Math.ceil((to.x - from.x) / 0.01)
    const down = Math.ceil(Math.abs(to.y - from.y) / 0.03)
    return [
      ...Array.from({ length: across }, (_, k) => ({ x: from.x + ((to.x - from.x) * k) / across, y: from.y })),
      ...Array.from({ length: down + 1 }, (_, k) => ({
        x: to.x,
        y: from.y + ((to.y - from.y) * k) / Math.max(1, down),
      })),
    ]
  })
}

interface Labelling {
  readonly place: Place
  readonly words: NumberWords
}

function labelMarkup({ text, x, y, dx, dy, isInLane }: PlacedLabel): Markup {
  const at = `left:${percent(x)};top:${percent(y)};transform:translate(${Math.round(dx)}px,${Math.round(dy)}px)`
  return html`<span class="caption${isInLane ? ' lane' : ''}" style="${at}">${text}</span>`
}

function leader(x: number, to: number): Markup {
  return html`<path class="leader" d="M${coordinate(x)} 0V${coordinate(to)}"/>`
}

/**
 * Which scores the chart shows. One that diverged would press all others into a line, so the axis ends where nearly all scores have
 * their place; those `beyond` stand at the edge.
 */
function progressionRange({ placed, direction, noise }: SessionFigures, { least, most }: Bounds) {
  const sign = direction === 'max' ? 1 : -1
  // Badness: 0 is best, whatever the direction.
  const scores = placed.flatMap(({ score }) => score ?? [])
  if (scores.length === 0) return undefined
  const best = Math.max(...scores.map((score) => sign * score))
  const badness = (score: number) => best - sign * score
  const line = placed.flatMap(({ after }) => (after === undefined ? [] : badness(after)))
  const sorted = scores.map(badness).sort((a, b) => a - b)
  const usual = sorted[Math.floor(0.85 * (sorted.length - 1))] ?? 0
  const far = sorted.at(-1) ?? 0
  const needed = Math.max(usual, ...line)
  const worst = far > 1.6 * needed ? 1.15 * needed : far
  const margin = Math.max(0.06 * worst, 2 * (noise.seedSd ?? 0) < worst ? 2 * (noise.seedSd ?? 0) : 0)
  const open = [sign * (best + margin), sign * (best - worst - 0.06 * worst)]
  // A little beyond what the metric can be, so that a dot on the bound is whole.
  const past = 0.02 * Math.abs((open[0] ?? 0) - (open[1] ?? 0))
  const ends = open.map((end) =>
    Math.min((most ?? Number.POSITIVE_INFINITY) + past, Math.max((least ?? Number.NEGATIVE_INFINITY) - past, end)),
  )
  return {
    low: Math.min(...ends),
    high: Math.max(...ends),
    beyond: sorted.filter((each) => each > worst * 1.06 + 1e-12).length,
  }
}
