// How a session went: the chart of all attempts, with its legend and its axes.
import { countText } from '../../kernel/index.ts'
import { isKept, type Outcome, type PlacedAttempt } from '../figures/placed-attempt.ts'
import type { SessionFigures } from '../figures/session-figures.ts'
import { type NumberWords, outcomeWord } from '../figures/value-text.ts'
import { clipped, html, type Markup, present } from '../html/markup.ts'
import type { Section } from '../html/page.ts'
import { coordinate, linearScale, percent, plot, type Scale, tickDecimals } from '../html/plot.ts'
import type { ReportContext } from './report-context.ts'

/** The chart of all attempts, with its legend. */
export function progression({ figures, words, input }: ReportContext): Section {
  const base = { id: 'progression', title: 'Progression', short: 'Progression' }
  const drawn = progressionChart(figures, words)
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

/**
 * Every attempt a dot by its verdict, the incumbent a line, and around it the band in which one run of the incumbent falls by chance.
 * Attempts without a score are in a strip below.
 */
function progressionChart(figures: SessionFigures, words: NumberWords) {
  const range = progressionRange(figures)
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
  const drawing = [
    hasStrip ? html`<path class="strip" d="M0 ${coordinate(height)}H1000V1000H0Z"/>` : undefined,
    band(figures, place),
    html`<path class="best" d="${steps(placed, place)}"/>`,
    order.map((outcome) => dots(shown, outcome, place, words)),
  ]
  return {
    chart: plot({
      label,
      drawing,
      over: captions(figures, { x, y, height }, words),
      xTicks: x.ticks.map((tick) => ({ at: 0.01 + 0.98 * x.at(tick), text: String(tick) })),
      yTicks: [
        ...y.ticks.map((tick) => ({ at: 1 - (1 - y.at(tick)) * height, text: tick.toFixed(decimals) })),
        ...(hasStrip ? [{ at: strip / 2, text: 'failed' }] : []),
      ],
      xTitle: 'experiment',
      heightPx: 380,
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
function band({ placed, noise }: SessionFigures, place: Place): Markup | undefined {
  if (noise.seedSd === undefined || noise.seedSd === 0) return undefined
  const reach = 1.64 * noise.seedSd
  const shifted = (by: number) => {
    const moved = placed.map((each) => (each.after === undefined ? each : { ...each, after: each.after + by }))
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

// The largest gains by name, where there is room: no two captions upon each other.
function captions(
  { kept }: SessionFigures,
  { x, y, height }: { x: Scale; y: Scale; height: number },
  words: NumberWords,
): Markup[] {
  const placed: { left: number; top: number }[] = []
  const largest = [...kept].sort((a, b) => (b.raw ?? 0) - (a.raw ?? 0)).slice(0, 5)
  return largest.flatMap(({ placed: { attempt, score }, raw }) => {
    if (score === undefined || raw === undefined) return []
    const left = 0.01 + 0.98 * x.at(attempt.number)
    const top = (1 - y.at(score)) * height
    const isFree = placed.every((other) => Math.abs(other.top - top) > 0.075 || Math.abs(other.left - left) > 0.3)
    if (!isFree || left > 0.7) return []
    placed.push({ left, top })
    return [
      html`<span class="caption" style="left:${percent(left)};top:${percent(top)}">${clipped(attempt.title, 34)} <b>${words.gain(raw)}</b></span>`,
    ]
  })
}

/**
 * Which scores the chart shows. One that diverged would press all others into a line, so the axis ends where nearly all scores have
 * their place; those `beyond` stand at the edge.
 */
function progressionRange({ placed, direction, noise }: SessionFigures) {
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
  const ends = [sign * (best + margin), sign * (best - worst - 0.06 * worst)]
  return {
    low: Math.min(...ends),
    high: Math.max(...ends),
    beyond: sorted.filter((each) => each > worst * 1.06 + 1e-12).length,
  }
}
